//! HTTP/1.1, both sides: heads of requests and of responses, and bodies as they come.
//!
//! Strict where two readers could understand a message differently: a body with two lengths, a
//! header that goes on in the next line, a blank before a colon, a line that ends with `\n` alone
//! are bad. A bad message ends the stream.

mod body;
mod head;
mod headers;
mod write;

pub use body::{Body, BodyReader, Piece};
pub use head::{Request, Response, Version};
pub use headers::Headers;
pub use write::{
    header_is_valid, write_chunk, write_last_chunk, write_request, write_response,
    write_response_head,
};
