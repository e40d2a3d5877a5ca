//! A look into a MySQL or MariaDB: its global status and variables, and what its memcached plugin
//! counts. Only `SHOW` and `SELECT` are sent; nothing of what is stored is read.

mod connection;
mod findings;
mod meaning;
mod plugin;

pub use meaning::{BufferPool, Connections, Meaning, Rows, Settings};
pub use plugin::Plugin;

use super::figures::{Look, Looks};
use super::target::Target;
use connection::Connection;
use roundtrip_model::Result;
use std::time::Duration;

/// Reads the statistics: once, with rates over the server's life; or twice, `interval` apart, with
/// rates between the two.
pub fn stats(target: &Target, interval: Option<Duration>) -> Result<Look<Meaning>> {
    let mut connection = Connection::open(target)?;
    let variables = connection.pairs("SHOW GLOBAL VARIABLES")?;
    let looks = Looks::take(interval, "Uptime", || {
        connection.pairs("SHOW GLOBAL STATUS")
    })?;
    let plugin = plugin::read(&mut connection, &target.endpoint, &variables)?;
    let mut meaning = Meaning::of(&looks, &variables, plugin);
    let mut statistics = looks.now.clone();
    // What the plugin counts stands beside what the server counts, and once.
    if let Some(plugin) = &mut meaning.plugin {
        let counted = std::mem::take(&mut plugin.statistics);
        let named = |(name, value)| (format!("memcached_{name}"), value);
        statistics.extend(counted.into_iter().map(named));
    }
    Ok(Look {
        findings: findings::findings(&meaning, &looks),
        notes: findings::notes(&meaning),
        meaning,
        statistics,
    })
}
