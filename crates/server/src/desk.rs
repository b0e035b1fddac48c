//! The desk: threads that answer questions which read or compute for longer.
//!
//! Why not the runtime's pool for such work: it has no limit that fits, and a limit in front of it costs two
//! more changes of threads for every question. Here a thread that is done takes the next question from
//! the queue. Questions are answered in the order in which they are asked, so that none waits much
//! longer than the others; one that nobody waits for any more is left out.
//!
//! Questions of less than a millisecond must not share a core, or each waits for the others in the middle
//! of its work; and a question of seconds must not keep the short ones waiting. So as many are answered
//! as there are cores, and one that has taken [`PATIENCE`] does not count any more: another begins
//! beside it.
//!
//! Cost: as many threads as are asked for, which sleep while there are no questions; one of them wakes
//! every [`PATIENCE`] while questions wait.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// What a short question takes at most.
const PATIENCE: Duration = Duration::from_millis(20);

/// Answers questions until it is dropped.
pub(crate) struct Desk {
    queue: Arc<Queue>,
}

type Question = Box<dyn FnOnce() + Send>;

struct Queue {
    /// Short questions that are answered at once.
    short: usize,
    state: Mutex<State>,
    /// Rung for a thread that sleeps.
    bell: Condvar,
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
                    let woken = self.bell.wait_timeout(state, wait);
                    let (mut state, _) = woken.unwrap_or_else(PoisonError::into_inner);
                    state.watched = false;
                    state
                }
                _ => self.bell.wait(state).unwrap_or_else(PoisonError::into_inner),
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
            self.bell.notify_one();
        }
    }
}

impl Desk {
    /// Starts the threads. So many short questions are answered at once, and so many of any length; without
    /// threads none is.
    pub(crate) fn start(short: usize, threads: usize) -> io::Result<Desk> {
        let state = State { begun: vec![None; threads], ..State::default() };
        let queue = Queue { short: short.max(1), state: Mutex::new(state), bell: Condvar::new() };
        let desk = Desk { queue: Arc::new(queue) };
        for thread in 0..threads {
            let queue = desk.queue.clone();
            std::thread::Builder::new().name("wonbon-desk".to_owned()).spawn(move || {
                while let Some(question) = queue.next(thread) {
                    question();
                }
            })?;
        }
        Ok(desk)
    }

    /// Leaves a question. The answer never comes if the question panics.
    pub(crate) fn ask<T: Send + 'static>(
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

impl Drop for Desk {
    fn drop(&mut self) {
        self.queue.state().closed = true;
        self.queue.bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_question_is_answered_once() {
        let desk = Desk::start(2, 3).unwrap();
        let answers: Vec<_> = (0..1000).map(|number| desk.ask(move || number)).collect();
        for (number, answer) in answers.into_iter().enumerate() {
            assert_eq!(answer.blocking_recv().unwrap(), number);
        }
    }

    #[test]
    fn questions_of_one_thread_are_answered_in_their_order() {
        let desk = Desk::start(1, 1).unwrap();
        let (told, heard) = mpsc::channel();
        let answers: Vec<_> = (0..100)
            .map(|number| {
                let told = told.clone();
                desk.ask(move || told.send(number).unwrap())
            })
            .collect();
        answers.into_iter().for_each(|answer| answer.blocking_recv().unwrap());
        assert!(heard.try_iter().eq(0..100));
    }

    #[test]
    fn a_question_that_panics_takes_no_thread_with_it() {
        let desk = Desk::start(1, 1).unwrap();
        assert!(desk.ask(|| panic!("as it was told to")).blocking_recv().is_err());
        assert_eq!(desk.ask(|| 7).blocking_recv().unwrap(), 7);
    }

    #[test]
    fn what_nobody_waits_for_is_left_out() {
        let desk = Desk::start(1, 1).unwrap();
        let (go, wait) = mpsc::channel::<()>();
        let first = desk.ask(move || wait.recv());
        let (told, heard) = mpsc::channel();
        drop(desk.ask(move || told.send(())));
        go.send(()).unwrap();
        first.blocking_recv().unwrap().unwrap();
        desk.ask(|| ()).blocking_recv().unwrap();
        assert!(heard.try_recv().is_err());
    }

    #[test]
    fn a_long_question_does_not_keep_short_ones_waiting() {
        let desk = Desk::start(1, 3).unwrap();
        let (go, wait) = mpsc::channel::<()>();
        let (go_too, wait_too) = mpsc::channel::<()>();
        let long = [desk.ask(move || wait.recv()), desk.ask(move || wait_too.recv())];
        // Two take long, so the third thread answers all of these.
        let answers: Vec<_> = (0..100).map(|number| desk.ask(move || number)).collect();
        assert!(answers.into_iter().map(|answer| answer.blocking_recv().unwrap()).eq(0..100));
        go.send(()).unwrap();
        go_too.send(()).unwrap();
        long.into_iter().for_each(|answer| answer.blocking_recv().unwrap().unwrap());
    }

    #[test]
    fn short_questions_are_answered_one_after_another() {
        let desk = Desk::start(1, 4).unwrap();
        let at_once = Arc::new(Mutex::new((0, 0)));
        let answers: Vec<_> = (0..200)
            .map(|_| {
                let at_once = at_once.clone();
                desk.ask(move || {
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
    fn what_was_asked_is_answered_although_the_desk_closes() {
        let desk = Desk::start(1, 2).unwrap();
        let answers: Vec<_> = (0..50).map(|number| desk.ask(move || number)).collect();
        drop(desk);
        assert!(answers.into_iter().map(|answer| answer.blocking_recv().unwrap()).eq(0..50));
    }
}
