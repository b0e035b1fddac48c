//! Threads that answer the questions which read or compute for longer: a queue and a fixed pool.
//!
//! Why not tokio's blocking pool: its limit is on threads, not on running questions, and a semaphore in
//! front of it costs two more thread switches for every question. Here an idle thread takes the next
//! question from the queue, first in first out. A question whose client has gone is skipped.
//!
//! Questions of less than a millisecond must not share a core, or each is preempted in the middle of its
//! work; and a question of seconds must not keep the short ones waiting. So as many questions run as there
//! are cores, and one that has run for [`PATIENCE`] is no longer counted: another starts beside it.
//!
//! Cost: a fixed number of threads, which sleep while there are no questions; one of them wakes every
//! [`PATIENCE`] while questions wait.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// What a short question takes at most.
const PATIENCE: Duration = Duration::from_millis(20);

/// Answers questions until it is dropped.
pub(crate) struct AnswerThreads {
    queue: Arc<Queue>,
}

type Question = Box<dyn FnOnce() + Send>;

struct Queue {
    /// Short questions that are answered at once.
    short: usize,
    state: Mutex<State>,
    /// Wakes a thread that sleeps.
    wake: Condvar,
}

#[derive(Default)]
struct State {
    questions: VecDeque<Question>,
    /// When each thread began with its question, if it has one.
    begun: Vec<Option<Instant>>,
    sleeping: usize,
    /// Whether one of those that sleep wakes by itself.
    watched: bool,
    closed: bool,
}

impl State {
    /// How long until another question may begin; `None` if one may now.
    fn busy_for(&self, short: usize) -> Option<Duration> {
        let taken = self.begun.iter().flatten().map(Instant::elapsed);
        let still_short = taken.filter(|taken| *taken < PATIENCE);
        let (count, longest) = still_short
            .fold((0, Duration::ZERO), |(count, most), taken| (count + 1, most.max(taken)));
        (count >= short).then(|| PATIENCE - longest)
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next question for a thread that is done with its last; `None` when there will be no more.
    fn next(&self, thread: usize) -> Option<Question> {
        let mut state = self.state();
        state.begun[thread] = None;
        loop {
            let busy_for = state.busy_for(self.short);
            if busy_for.is_none()
                && let Some(question) = state.questions.pop_front()
            {
                state.begun[thread] = Some(Instant::now());
                self.wake_for(&state);
                return Some(question);
            }
            if state.questions.is_empty() && state.closed {
                return None;
            }
            state.sleeping += 1;
            state = match busy_for {
                Some(wait) if !state.questions.is_empty() && !state.watched => {
                    state.watched = true;
                    let woken = self.wake.wait_timeout(state, wait);
                    let (mut state, _) = woken.unwrap_or_else(PoisonError::into_inner);
                    state.watched = false;
                    state
                }
                _ => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.sleeping -= 1;
        }
    }

    /// Wakes a thread if there is something to do or to watch for it.
    fn wake_for(&self, state: &State) {
        if state.sleeping == 0 || state.questions.is_empty() {
            return;
        }
        if !state.watched || state.busy_for(self.short).is_none() {
            self.wake.notify_one();
        }
    }
}

impl AnswerThreads {
    /// Starts the threads. So many short questions are answered at once, and so many of any length; without
    /// threads none is.
    pub(crate) fn start(short: usize, threads: usize) -> io::Result<AnswerThreads> {
        let state = State { begun: vec![None; threads], ..State::default() };
        let queue = Queue { short: short.max(1), state: Mutex::new(state), wake: Condvar::new() };
        let started = AnswerThreads { queue: Arc::new(queue) };
        for thread in 0..threads {
            let queue = started.queue.clone();
            std::thread::Builder::new().name("wonbon-answers".to_owned()).spawn(move || {
                while let Some(question) = queue.next(thread) {
                    question();
                }
            })?;
        }
        Ok(started)
    }

    /// Queues a question. The answer never comes if the question panics.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        question: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        let question = Box::new(move || {
            if reply.is_closed() {
                return;
            }
            // What it was told by the panic went to the log; the thread goes on.
            if let Ok(answered) = catch_unwind(AssertUnwindSafe(question)) {
                // Nobody waits any more: nothing to tell.
                let _ = reply.send(answered);
            }
        });
        let mut state = self.queue.state();
        state.questions.push_back(question);
        self.queue.wake_for(&state);
        answer
    }
}

impl Drop for AnswerThreads {
    fn drop(&mut self) {
        self.queue.state().closed = true;
        self.queue.wake.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_question_is_answered_once() {
        let threads = AnswerThreads::start(2, 3).unwrap();
        let answers: Vec<_> = (0..1000).map(|number| threads.run(move || number)).collect();
        for (number, answer) in answers.into_iter().enumerate() {
            assert_eq!(answer.blocking_recv().unwrap(), number);
        }
    }

    #[test]
    fn questions_of_one_thread_are_answered_in_their_order() {
        let threads = AnswerThreads::start(1, 1).unwrap();
        let (told, heard) = mpsc::channel();
        let answers: Vec<_> = (0..100)
            .map(|number| {
                let told = told.clone();
                threads.run(move || told.send(number).unwrap())
            })
            .collect();
        answers.into_iter().for_each(|answer| answer.blocking_recv().unwrap());
        assert!(heard.try_iter().eq(0..100));
    }

    #[test]
    fn a_question_that_panics_takes_no_thread_with_it() {
        let threads = AnswerThreads::start(1, 1).unwrap();
        assert!(threads.run(|| panic!("as it was told to")).blocking_recv().is_err());
        assert_eq!(threads.run(|| 7).blocking_recv().unwrap(), 7);
    }

    #[test]
    fn what_nobody_waits_for_is_left_out() {
        let threads = AnswerThreads::start(1, 1).unwrap();
        let (go, wait) = mpsc::channel::<()>();
        let first = threads.run(move || wait.recv());
        let (told, heard) = mpsc::channel();
        drop(threads.run(move || told.send(())));
        go.send(()).unwrap();
        first.blocking_recv().unwrap().unwrap();
        threads.run(|| ()).blocking_recv().unwrap();
        assert!(heard.try_recv().is_err());
    }

    #[test]
    fn a_long_question_does_not_keep_short_ones_waiting() {
        let threads = AnswerThreads::start(1, 3).unwrap();
        let (go, wait) = mpsc::channel::<()>();
        let (go_too, wait_too) = mpsc::channel::<()>();
        let long = [threads.run(move || wait.recv()), threads.run(move || wait_too.recv())];
        // Two take long, so the third thread answers all of these.
        let answers: Vec<_> = (0..100).map(|number| threads.run(move || number)).collect();
        assert!(answers.into_iter().map(|answer| answer.blocking_recv().unwrap()).eq(0..100));
        go.send(()).unwrap();
        go_too.send(()).unwrap();
        long.into_iter().for_each(|answer| answer.blocking_recv().unwrap().unwrap());
    }

    #[test]
    fn short_questions_are_answered_one_after_another() {
        let threads = AnswerThreads::start(1, 4).unwrap();
        let at_once = Arc::new(Mutex::new((0, 0)));
        let answers: Vec<_> = (0..200)
            .map(|_| {
                let at_once = at_once.clone();
                threads.run(move || {
                    let count = |change: i32| {
                        let (now, most) = &mut *at_once.lock().unwrap();
                        *now += change;
                        *most = (*most).max(*now);
                    };
                    let began = Instant::now();
                    count(1);
                    std::thread::yield_now();
                    count(-1);
                    began.elapsed()
                })
            })
            .collect();
        let taken = answers.into_iter().map(|answer| answer.blocking_recv().unwrap());
        // On a machine that stands still for so long a question does not count as short.
        if taken.max().unwrap() < PATIENCE / 2 {
            assert_eq!(at_once.lock().unwrap().1, 1);
        }
    }

    #[test]
    fn what_was_asked_is_answered_although_the_threads_close() {
        let threads = AnswerThreads::start(1, 2).unwrap();
        let answers: Vec<_> = (0..50).map(|number| threads.run(move || number)).collect();
        drop(threads);
        assert!(answers.into_iter().map(|answer| answer.blocking_recv().unwrap()).eq(0..50));
    }
}
