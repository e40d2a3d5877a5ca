//! The connections that are there, each under a number that is used again after it.

use super::counters::Counters;

#[derive(Debug)]
pub(super) struct Clients<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
    most: usize,
}

impl<T> Clients<T> {
    pub(super) fn new(most: usize) -> Clients<T> {
        Clients {
            slots: Vec::new(),
            free: Vec::new(),
            most,
        }
    }

    /// Takes a connection in, made for its number; says which that is. `None` when there are too
    /// many or it could not be made: it is then closed.
    pub(super) fn add(
        &mut self,
        counters: &mut Counters,
        make: impl FnOnce(usize) -> Option<T>,
    ) -> Option<usize> {
        let number = self.free.last().copied().unwrap_or(self.slots.len());
        let room = counters.curr_connections < self.most as u64;
        let Some(client) = room.then(|| make(number)).flatten() else {
            counters.rejected_connections += 1;
            return None;
        };
        counters.curr_connections += 1;
        counters.total_connections += 1;
        match self.free.pop() {
            Some(number) => self.slots[number] = Some(client),
            None => self.slots.push(Some(client)),
        }
        Some(number)
    }

    #[inline]
    pub(super) fn get(&mut self, number: usize) -> Option<&mut T> {
        self.slots.get_mut(number).and_then(Option::as_mut)
    }

    /// Lets a connection go, which closes it.
    pub(super) fn remove(&mut self, number: usize, counters: &mut Counters) {
        if self.free(number) {
            counters.curr_connections -= 1;
        }
    }

    /// The same of one that no longer counts.
    pub(super) fn free(&mut self, number: usize) -> bool {
        let was_there = self.slots.get_mut(number).and_then(Option::take).is_some();
        if was_there {
            self.free.push(number);
        }
        was_there
    }
}
