//! Which processors servers and clients run on. METHOD.md, point 7.

use roundtrip_model::{Placement, Warning, WarningKind};
use roundtrip_process::{CpuSet, cpus};

/// The processors of one placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// Of the servers.
    pub servers: CpuSet,
    /// Of the clients.
    pub clients: CpuSet,
}

impl Cpus {
    /// The processors of a placement on this machine.
    pub fn of(placement: Placement) -> Cpus {
        Cpus::among(placement, &machine().0)
    }

    fn among(placement: Placement, all: &[usize]) -> Cpus {
        let set = |cpus: &[usize]| CpuSet(cpus.to_vec());
        match placement {
            Placement::Split if all.len() > 1 => {
                let (servers, clients) = all.split_at(all.len() / 2);
                Cpus {
                    servers: set(servers),
                    clients: set(clients),
                }
            }
            Placement::Shared => {
                let last = &all[all.len() - 1..];
                Cpus {
                    servers: set(last),
                    clients: set(last),
                }
            }
            Placement::Split | Placement::Free => Cpus {
                servers: set(all),
                clients: set(all),
            },
        }
    }
}

/// Every processor that Roundtrip was given, read before it pins itself.
pub fn machine() -> &'static CpuSet {
    static MACHINE: std::sync::OnceLock<CpuSet> = std::sync::OnceLock::new();
    MACHINE.get_or_init(cpus::available)
}

/// Keeps Roundtrip itself off the clients' processors: it sleeps while a trial runs, but what it
/// does between must not push a client around. Its children are pinned by themselves.
pub fn pin_host() {
    let all = machine();
    if all.0.len() > 1 {
        // Not being pinned costs some noise, nothing else.
        let _ = cpus::pin_this_thread(&CpuSet(vec![all.0[0]]));
    }
}

/// Says where a placement cannot be had.
pub fn warning(placements: &[Placement]) -> Option<Warning> {
    let cpus = machine().0.len();
    (cpus < 2 && placements.contains(&Placement::Split)).then(|| {
        let detail = "there is one processor, so server and client share it";
        Warning::new(
            WarningKind::PlacementUnavailable,
            Placement::Split.name(),
            detail,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(placement: Placement, all: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let cpus = Cpus::among(placement, all);
        (cpus.servers.0, cpus.clients.0)
    }

    #[test]
    fn split_keeps_servers_and_clients_apart() {
        assert_eq!(cpus(Placement::Split, &[0, 1]), (vec![0], vec![1]));
        assert_eq!(cpus(Placement::Split, &[2, 3, 5]), (vec![2], vec![3, 5]));
    }

    #[test]
    fn shared_is_one_processor_and_free_is_all() {
        assert_eq!(cpus(Placement::Shared, &[0, 1]), (vec![1], vec![1]));
        assert_eq!(cpus(Placement::Free, &[0, 1]), (vec![0, 1], vec![0, 1]));
        assert_eq!(cpus(Placement::Split, &[4]), (vec![4], vec![4]));
    }
}
