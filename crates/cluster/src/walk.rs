//! The walk in keep order: compares every representative with the earlier ones that share a band with it.
//!
//! Representatives with the same feature are in one *bucket*. The walk takes representatives in keep order, collects the
//! earlier ones of their buckets, and verifies each on the full sets of shingles. Then it decides whether later
//! representatives shall be compared with the new one. Under star families they are compared with originals only, as in a
//! store to which documents are added one at a time; otherwise a family of ten thousand copies would cost fifty million
//! comparisons.
//!
//! Threads: a block of representatives is collected as if later ones were compared with all of them, verified in parallel,
//! then decided in order. A representative with which later ones shall not be compared is then removed from the buckets and
//! from the results of the others. So results do not depend on the number of threads.
//!
//! Cost: 9 bytes a representative for sizes and positions of the sets, 8 for one that shares a bucket; 4 bytes for every
//! entry in a bucket that two or more share, and either 5 to 6 while buckets are found or 8 of originals during the walk. One
//! read of a set for each candidate.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wonbon_documents::Progress;
use wonbon_rule::Rule;
use wonbon_sketch::Distinct;

use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::order::{NOBODY, Representatives, for_each_group};
use crate::ranked_bits::{Bits, RankedBits};
use crate::sets::Sets;

/// The buckets of every representative.
#[derive(Debug)]
pub struct Buckets {
    /// Who is in a bucket with anybody.
    sharing: RankedBits,
    /// Where the buckets of each of them start, and the end of all.
    starts: Vec<u64>,
    buckets: Vec<u32>,
    count: u32,
}

impl Buckets {
    /// Reads the features, one after another.
    ///
    /// # Errors
    ///
    /// If the corpus cannot be read.
    pub fn find(
        corpus: &Corpus,
        representatives: &Representatives,
        memory: u64,
        progress: &dyn Progress,
    ) -> Result<Self, ClusterError> {
        let mut groups = Groups::default();
        for feature in 0..corpus.feature_count() {
            if progress.stop_asked() {
                return Err(ClusterError::Stopped);
            }
            let number = |document: u64| {
                let document = document as u32;
                representatives.is_one(document).then(|| representatives.of[document as usize])
            };
            for_each_group(&corpus.feature(feature)?, number, memory, |group| {
                groups.push(group.iter().copied());
                Ok(())
            })?;
            progress.advance(feature as u64 + 1);
        }
        Ok(groups.buckets(representatives.len()))
    }

    /// The buckets of representatives whose features are in memory, `feature_count` of them for each.
    pub(crate) fn in_memory(features: &[u64], feature_count: usize) -> Self {
        let representatives = features.len().checked_div(feature_count).unwrap_or(0) as u32;
        let mut groups = Groups::default();
        let mut column: Vec<(u64, u32)> = Vec::new();
        for feature in 0..feature_count {
            column.clear();
            let values = features.iter().skip(feature).step_by(feature_count);
            column.extend(values.copied().zip(0..representatives));
            column.sort_unstable();
            for equal in column.chunk_by(|one, other| one.0 == other.0) {
                if equal.len() > 1 {
                    groups.push(equal.iter().map(|&(_, member)| member));
                }
            }
        }
        groups.buckets(representatives)
    }

    fn of(&self, representative: u32) -> &[u32] {
        let Some(row) = self.sharing.row(representative) else { return &[] };
        &self.buckets[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// Who is in a bucket with whom, as long as buckets are still found.
#[derive(Debug, Default)]
struct Groups {
    /// The members of one group after another, each group ended by [`NOBODY`].
    members: Vec<u32>,
    count: u32,
}

impl Groups {
    fn push(&mut self, group: impl Iterator<Item = u32>) {
        self.members.extend(group);
        self.members.push(NOBODY);
        self.count += 1;
    }

    fn buckets(self, representatives: u32) -> Buckets {
        let Groups { members, count } = self;
        let members_of = || members.iter().filter(|&&member| member != NOBODY);
        let mut sharing = Bits::new(representatives);
        members_of().for_each(|&member| sharing.insert(member));
        let sharing = RankedBits::new(sharing);
        let row = |member: u32| sharing.rank(member) as usize;
        let mut starts = vec![0_u64; row(representatives) + 1];
        members_of().for_each(|&member| starts[row(member) + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        // Groups come in the order of their numbers, and so do the buckets of each member. While these are filled in, the
        // start of each member moves to its end, which is the start of the next.
        let mut buckets = vec![0; *starts.last().unwrap_or(&0) as usize];
        for (bucket, group) in (0..).zip(members.split(|&member| member == NOBODY)) {
            for &member in group {
                let next = &mut starts[row(member)];
                buckets[*next as usize] = bucket;
                *next += 1;
            }
        }
        starts.pop();
        starts.insert(0, 0);
        Buckets { sharing, starts, buckets, count }
    }
}

/// An earlier representative, compared exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// The representative.
    pub other: u32,
    /// Features that agree; 0 where they were not counted.
    pub agreeing: u32,
    /// Shingles both have.
    pub shared: u32,
    /// Shingles they have together.
    pub union: u32,
}

impl Met {
    /// The exact resemblance.
    #[must_use]
    pub fn resemblance(&self) -> f64 {
        f64::from(self.shared) / f64::from(self.union)
    }

    /// Which of two resembles more, exactly.
    #[must_use]
    pub fn resembles_more(&self, other: &Met) -> bool {
        u64::from(self.shared) * u64::from(other.union)
            > u64::from(other.shared) * u64::from(self.union)
    }
}

/// Compares sets; one for each thread.
#[derive(Debug, Default)]
pub(crate) struct Comparer {
    distinct: Distinct,
    mine: Vec<u64>,
    theirs: Vec<u64>,
    loaded: Option<u32>,
}

impl Comparer {
    /// Compares a representative with another. The first one is kept for the next question.
    ///
    /// # Errors
    ///
    /// If the sets cannot be read.
    pub(crate) fn compare(
        &mut self,
        sets: &Sets,
        one: u32,
        other: u32,
    ) -> Result<Met, ClusterError> {
        let met = self.compare_from(sets, one, other, 0.0)?;
        Ok(met.expect("every two share nothing or more"))
    }

    /// The same; may end with none as soon as it is sure that they resemble each other less than `least`.
    pub(crate) fn compare_from(
        &mut self,
        sets: &Sets,
        one: u32,
        other: u32,
        least: f64,
    ) -> Result<Option<Met>, ClusterError> {
        if self.loaded != Some(one) {
            self.loaded = None;
            sets.read(one, &mut self.theirs)?;
            self.mine.clear();
            self.distinct.start(&self.mine, self.theirs.len());
            self.distinct.add(&self.theirs, &mut self.mine);
            self.loaded = Some(one);
        }
        sets.read(other, &mut self.theirs)?;
        let sizes = sets.size(one) + sets.size(other);
        // Of a resemblance r two sets of n elements share n r / (1 + r); one less, for what rounding may do.
        let least = (f64::from(sizes) * least / (1.0 + least)).floor() - 1.0;
        let shared =
            self.distinct.count_shared_from(&self.mine, &self.theirs, least.max(0.0) as usize);
        Ok(shared.map(|shared| {
            let shared = shared as u32;
            Met { other, agreeing: 0, shared, union: sizes - shared }
        }))
    }
}

/// How the walk goes.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    /// The sets.
    pub sets: &'a Sets,
    /// The buckets.
    pub buckets: &'a Buckets,
    /// The rule: what makes a copy, and so which pairs are of interest.
    pub rule: Rule,
    /// Representatives below this number do not look for others, and are met by all.
    pub others: u32,
    /// Threads.
    pub threads: NonZeroUsize,
    /// Progress and cancellation.
    pub progress: &'a dyn Progress,
}

/// How many representatives with buckets are gathered before they are verified, for each thread.
const BLOCK: usize = 512;

/// What is asked and found for one representative.
#[derive(Debug, Default)]
struct Question {
    who: u32,
    candidates: Vec<(u32, u32)>,
    met: Vec<Met>,
    failed: Option<ClusterError>,
}

/// The earlier ones in each bucket, as chains through one list that is only cut at its end.
#[derive(Debug)]
struct Chains {
    heads: Vec<u32>,
    links: Vec<Link>,
    /// The buckets of the last links, which may be cut off again.
    loose: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    who: u32,
    before: u32,
}

impl Chains {
    fn add(&mut self, who: u32, buckets: &Buckets) {
        for &bucket in buckets.of(who) {
            let before =
                std::mem::replace(&mut self.heads[bucket as usize], self.links.len() as u32);
            self.links.push(Link { who, before });
            self.loose.push(bucket);
        }
    }

    /// Whatever was added so far stays.
    fn fasten(&mut self) {
        self.loose.clear();
    }

    /// Forgets everything that was added since it was last fastened.
    fn cut(&mut self) {
        let kept = self.links.len() - self.loose.len();
        for (link, bucket) in self.links.drain(kept..).zip(self.loose.drain(..)).rev() {
            self.heads[bucket as usize] = link.before;
        }
    }

    fn for_each(&self, bucket: u32, mut each: impl FnMut(u32)) {
        let mut at = self.heads[bucket as usize];
        while at != NOBODY {
            let link = self.links[at as usize];
            each(link.who);
            at = link.before;
        }
    }
}

impl Walk<'_> {
    /// Goes through all representatives that share a bucket with anybody.
    ///
    /// `wanted` tells whether a pair is worth verifying, beyond what the rule says; it may only
    /// leave out pairs that change nothing. `decide` hears whom each one met (only those that reach
    /// the threshold, or agree enough) and returns whether later ones shall meet it. Returns how many
    /// pairs were verified.
    ///
    /// # Errors
    ///
    /// If sets cannot be read, if `decide` fails, or if the watcher asked to stop.
    pub(crate) fn run<D>(
        self,
        decider: &mut D,
        wanted: impl Fn(&mut D, u32, u32) -> bool,
        decide: impl Fn(&mut D, u32, &[Met]) -> Result<bool, ClusterError>,
    ) -> Result<u64, ClusterError> {
        let count = self.sets.len();
        // One thread decides each before it gathers the next: fewest comparisons.
        let block = if self.threads.get() == 1 { 1 } else { BLOCK * self.threads.get() };
        let mut chains = Chains {
            heads: vec![NOBODY; self.buckets.count as usize],
            links: Vec::new(),
            loose: Vec::new(),
        };
        let mut questions: Vec<Question> = Vec::new();
        questions.resize_with(block, Question::default);
        let mut comparers: Vec<Comparer> = Vec::new();
        comparers.resize_with(self.threads.get(), Comparer::default);
        let mut left_out = vec![false; block];
        let mut verified = 0;
        for who in 0..self.others {
            chains.add(who, self.buckets);
            decide(decider, who, &[])?;
        }
        let mut next = self.others;
        while next < count {
            chains.fasten();
            let mut asked = 0;
            while next < count && asked < block {
                if !self.buckets.of(next).is_empty() {
                    let question = &mut questions[asked];
                    question.who = next;
                    self.gather(question, &chains);
                    question.candidates.retain(|&(other, _)| wanted(decider, next, other));
                    verified += question.candidates.len() as u64;
                    chains.add(next, self.buckets);
                    asked += 1;
                }
                next += 1;
            }
            let questions = &mut questions[..asked];
            self.verify(questions, &mut comparers);
            chains.cut();
            left_out.fill(false);
            for at in 0..questions.len() {
                let (earlier, rest) = questions.split_at_mut(at);
                let question = &mut rest[0];
                if let Some(error) = question.failed.take() {
                    return Err(error);
                }
                question.met.retain(|met| {
                    !earlier
                        .binary_search_by_key(&met.other, |earlier| earlier.who)
                        .is_ok_and(|place| left_out[place])
                });
                if decide(decider, question.who, &question.met)? {
                    chains.add(question.who, self.buckets);
                } else {
                    left_out[at] = true;
                }
            }
            if self.progress.stop_asked() {
                return Err(ClusterError::Stopped);
            }
            self.progress.advance(u64::from(next));
        }
        Ok(verified)
    }

    /// The earlier ones that share a bucket, with how many they share.
    fn gather(&self, question: &mut Question, chains: &Chains) {
        let Question { who, candidates, .. } = question;
        candidates.clear();
        let (size, least) = (self.sets.size(*who), self.rule.least_resemblance());
        for &bucket in self.buckets.of(*who) {
            chains.for_each(bucket, |other| {
                // Sets of sizes too different cannot resemble each other enough.
                let theirs = self.sets.size(other);
                if f64::from(size.min(theirs)) / f64::from(size.max(theirs)) >= least {
                    candidates.push((other, 1));
                }
            });
        }
        candidates.sort_unstable();
        candidates.dedup_by(|again, kept| {
            let same = again.0 == kept.0;
            kept.1 += u32::from(same);
            same
        });
        let least = self.rule.least_agreeing() as u32;
        if least > 1 {
            candidates.retain(|&(_, agreeing)| agreeing >= least);
        }
    }

    fn verify(&self, questions: &mut [Question], comparers: &mut [Comparer]) {
        if let [comparer] = comparers {
            questions.iter_mut().for_each(|question| self.answer(question, comparer));
            return;
        }
        let pairs: usize = questions.iter().map(|question| question.candidates.len()).sum();
        if pairs == 0 {
            questions.iter_mut().for_each(|question| question.met.clear());
            return;
        }
        let questions: Vec<Mutex<&mut Question>> = questions.iter_mut().map(Mutex::new).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for comparer in comparers {
                scope.spawn(|| {
                    while let Some(question) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let mut question = question.lock().expect("each is taken once");
                        self.answer(&mut question, comparer);
                    }
                });
            }
        });
    }

    fn answer(&self, question: &mut Question, comparer: &mut Comparer) {
        question.met.clear();
        let least = self.rule.least_resemblance();
        for &(other, agreeing) in &question.candidates {
            match comparer.compare_from(self.sets, question.who, other, least) {
                Ok(None) => {}
                Ok(Some(met)) => {
                    if self.rule.makes_a_copy(met.resemblance(), agreeing as usize) {
                        question.met.push(Met { agreeing, ..met });
                    }
                }
                Err(error) => {
                    question.failed = Some(error);
                    return;
                }
            }
        }
    }
}
