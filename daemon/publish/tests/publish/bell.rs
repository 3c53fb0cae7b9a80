//! The wake bell.

use futures_util::FutureExt;
use harness_publish::WakeBell;

#[tokio::test]
async fn many_rings_are_one_for_a_listener_that_was_busy() {
    let bell = WakeBell::new();
    let mut listener = bell.listen();
    assert_eq!(listener.rung().now_or_never(), None);
    for _ in 0..100 {
        bell.ring();
    }
    assert_eq!(listener.rung().now_or_never(), Some(()));
    assert_eq!(listener.rung().now_or_never(), None);
    bell.clone().ring();
    assert_eq!(listener.rung().now_or_never(), Some(()));
}

#[tokio::test]
async fn everyone_who_listens_hears_it() {
    let bell = WakeBell::new();
    let (mut one, mut two) = (bell.listen(), bell.listen());
    let ((), (), ()) = tokio::join!(one.rung(), two.rung(), async { bell.ring() });
    let mut late = bell.listen();
    assert_eq!(
        late.rung().now_or_never(),
        None,
        "a ring of the past is not for it"
    );
}

#[tokio::test]
async fn a_ring_between_the_question_and_the_wait_is_heard() {
    let bell = WakeBell::new();
    let rung = bell.rung();
    bell.ring();
    assert_eq!(rung.now_or_never(), Some(()));
    assert_eq!(bell.rung().now_or_never(), None);
}

#[tokio::test]
async fn a_bell_that_is_gone_rings_no_more() {
    let bell = WakeBell::new();
    let mut listener = bell.listen();
    bell.ring();
    drop(bell);
    assert_eq!(listener.rung().now_or_never(), Some(()));
    assert_eq!(listener.rung().now_or_never(), None);
}
