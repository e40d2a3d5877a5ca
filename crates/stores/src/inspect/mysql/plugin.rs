//! The InnoDB memcached plugin, where it is loaded: how it is set, and what it counts itself.

use super::connection::Connection;
use crate::inspect::figures::{Statistics, number, ratio};
use crate::probe::ANSWER_WITHIN;
use crate::probe::memcached;
use roundtrip_model::Result;
use roundtrip_model::contract::Endpoint;
use serde::Serialize;

const NAME: &str = "daemon_memcached";
const QUESTION: &str = "SELECT PLUGIN_NAME, PLUGIN_STATUS FROM information_schema.PLUGINS \
                        WHERE PLUGIN_NAME = 'daemon_memcached'";
/// Where it listens when nobody says otherwise.
const DEFAULT_PORT: u16 = 11211;

/// The plugin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plugin {
    /// `ACTIVE`, as the server says it.
    pub status: String,
    /// Where it listens, on the machine of the server.
    pub port: u16,
    /// Whether it answered there.
    pub answers: bool,
    /// Reads that it was asked for since it started.
    pub gets: Option<u64>,
    /// The share of them that found their key.
    pub hit_ratio: Option<f64>,
    /// Writes that it was asked for since it started.
    pub sets: Option<u64>,
    /// Connections open to it.
    pub connections: Option<u64>,
    /// Reads that share a transaction.
    pub read_batch: Option<u64>,
    /// Writes that share a transaction.
    pub write_batch: Option<u64>,
    /// Whether its writes go into the binary log.
    pub binlog: Option<bool>,
    /// Everything that it counts.
    #[serde(skip)]
    pub statistics: Statistics,
}

/// The plugin of the server; `None` where it is not loaded.
pub fn read(
    connection: &mut Connection,
    server: &Endpoint,
    variables: &Statistics,
) -> Result<Option<Plugin>> {
    let mut found = connection.pairs(QUESTION)?;
    let Some(status) = found.remove(NAME) else {
        return Ok(None);
    };
    let options = variables.get("daemon_memcached_option");
    let port = options
        .and_then(|text| port_of(text))
        .unwrap_or(DEFAULT_PORT);
    let counted = ask(server, port);
    let statistics = counted.unwrap_or_default();
    let gets = number(&statistics, "cmd_get");
    Ok(Some(Plugin {
        status,
        port,
        answers: !statistics.is_empty(),
        gets,
        hit_ratio: ratio(number(&statistics, "get_hits"), gets),
        sets: number(&statistics, "cmd_set"),
        connections: number(&statistics, "curr_connections"),
        read_batch: number(variables, "daemon_memcached_r_batch_size"),
        write_batch: number(variables, "daemon_memcached_w_batch_size"),
        binlog: variables
            .get("innodb_api_enable_binlog")
            .map(|value| value == "ON"),
        statistics,
    }))
}

/// What the plugin counts; it listens on the machine that the server is on.
fn ask(server: &Endpoint, port: u16) -> Option<Statistics> {
    let host = match server {
        Endpoint::Tcp { host, .. } => host.clone(),
        _ => "127.0.0.1".to_owned(),
    };
    let endpoint = Endpoint::Tcp { host, port };
    let mut connection = memcached::Connection::open(&endpoint, ANSWER_WITHIN).ok()?;
    connection.stats("").ok()
}

/// `-p11222`, `-p 11222`, `--port=11222`, among other options and commas.
fn port_of(options: &str) -> Option<u16> {
    let options = options.replace("--port=", "-p").replace(',', " ");
    let mut words = options.split_whitespace();
    let written = words.find_map(|word| word.strip_prefix("-p"))?;
    match written {
        "" => words.next()?.parse().ok(),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_among_the_options() {
        for (options, port) in [
            ("-p11222", Some(11222)),
            ("-l 127.0.0.1 -p 11222 -c 100", Some(11222)),
            ("-l127.0.0.1,-p5", Some(5)),
            ("--port=7", Some(7)),
            ("", None),
            ("-p", None),
            ("-p x", None),
            ("-p99999", None),
        ] {
            assert_eq!(port_of(options), port, "{options}");
        }
    }
}
