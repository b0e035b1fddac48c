//! What one of two queries finds: a word in the title or in the text.
//!
//! Why not tantivy's union: it gathers four thousand documents at a time in tables of its own, which it
//! makes and clears for every segment of every query. That pays for unions of many; for two, looking at
//! both is all there is to do. Scores are the same, bit by bit: the sum of those that match.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

#[derive(Debug)]
pub(crate) struct Either(pub [Box<dyn Query>; 2]);

struct EitherWeight([Box<dyn Weight>; 2]);

struct EitherScorer {
    scorers: [Box<dyn Scorer>; 2],
    /// Where they stand, so that they are asked only when they move.
    documents: [DocId; 2],
}

impl Clone for Either {
    fn clone(&self) -> Self {
        Either(self.0.each_ref().map(|query| query.box_clone()))
    }
}

impl Query for Either {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let [one, other] = &self.0;
        Ok(Box::new(EitherWeight([one.weight(scoring)?, other.weight(scoring)?])))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.0.iter().for_each(|query| query.query_terms(visitor));
    }
}

impl Weight for EitherWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let [one, other] = &self.0;
        let (one, other) = (one.scorer(reader, boost)?, other.scorer(reader, boost)?);
        Ok(match [one.doc(), other.doc()] {
            [TERMINATED, _] => other,
            [_, TERMINATED] => one,
            documents => Box::new(EitherScorer { scorers: [one, other], documents }),
        })
    }

    fn explain(&self, reader: &SegmentReader, document: DocId) -> tantivy::Result<Explanation> {
        let [one, other] = &self.0;
        one.explain(reader, document).or_else(|_| other.explain(reader, document))
    }
}

impl DocSet for EitherScorer {
    #[inline]
    fn advance(&mut self) -> DocId {
        let document = self.doc();
        if document != TERMINATED {
            for (scorer, at) in self.scorers.iter_mut().zip(&mut self.documents) {
                if *at == document {
                    *at = scorer.advance();
                }
            }
        }
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        for (scorer, at) in self.scorers.iter_mut().zip(&mut self.documents) {
            if *at < target {
                *at = scorer.seek(target);
            }
        }
        self.doc()
    }

    #[inline]
    fn doc(&self) -> DocId {
        let [one, other] = self.documents;
        one.min(other)
    }

    fn size_hint(&self) -> u32 {
        let [one, other] = &self.scorers;
        one.size_hint().max(other.size_hint())
    }

    fn cost(&self) -> u64 {
        self.scorers.iter().map(DocSet::cost).sum()
    }
}

impl Scorer for EitherScorer {
    #[inline]
    fn score(&mut self) -> Score {
        let document = self.doc();
        let scorers = self.scorers.iter_mut().zip(self.documents);
        let matching = scorers.filter(|(_, at)| *at == document);
        matching.map(|(scorer, _)| scorer.score()).sum()
    }
}
