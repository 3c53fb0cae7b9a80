//! The keeper with real processes.

#[cfg(test)]
mod connection;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod execute;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod life;
#[cfg(test)]
mod sandbox;
mod spawn;
#[cfg(test)]
mod stop;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tree;
