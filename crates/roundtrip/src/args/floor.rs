//! What is asked of a floor.

use clap::Args;

/// `floor`
#[derive(Args)]
pub struct FloorArgs {
    /// Where to listen: a loopback ADDRESS:PORT (port 0 for a free one), or unix:PATH
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub listen: String,
    /// What to speak: memcached, resp, or both on one port
    #[arg(long, default_value = "memcached,resp", value_name = "PROTOCOLS")]
    pub protocol: String,
    /// How bytes travel: auto, epoll or io_uring; what is late or wrong goes over epoll
    #[arg(long, default_value = "auto", value_name = "IO")]
    pub io: String,
    /// Delay every answer: constant:200us, or two:100us,5ms,1%
    #[arg(long, value_name = "DELAY")]
    pub delay: Option<String>,
    /// Stop answering for a while, again and again: 100ms/1s
    #[arg(long, value_name = "STALL")]
    pub stall: Option<String>,
    /// Leave every N-th request unanswered and close its connection
    #[arg(long, value_name = "N")]
    pub drop: Option<u64>,
    /// Flip a byte of every N-th value
    #[arg(long, value_name = "N")]
    pub garble: Option<u64>,
    /// Send every N-th answer twice
    #[arg(long, value_name = "N")]
    pub double: Option<u64>,
    /// Read at most so many bytes a second from each connection
    #[arg(long, value_name = "BYTES/S")]
    pub slow_read: Option<u64>,
}
