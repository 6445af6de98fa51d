import 'dart:async';
import 'dart:math';

import 'exception.dart';

/// Somebody looks, or wants what is on its way, until it ends.
final class Interest {
  final _listeners = <void Function()>{};
  bool _hasEnded = false;
  bool get hasEnded => _hasEnded;

  /// Tells when it ends; the function that is returned forgets the listener.
  void Function() onEnd(void Function() listener) {
    _listeners.add(listener);
    return () => _listeners.remove(listener);
  }

  void end() {
    if (_hasEnded) return;
    _hasEnded = true;
    for (final listener in _listeners.toList()) listener();
    _listeners.clear();
  }
}

/// Whether the app is in front and goes on, and the pauses of all that waits in it.
final class Life(final List<Duration> _backOff) {
  // Pauses may be so much shorter or longer, so that not all devices come back at once.
  static const _spread = 0.25;
  final _wakers = <void Function()>{};
  final _random = Random();
  final _open = Interest();
  bool _isActive = true;
  bool get isActive => _isActive;
  bool get isClosed => _open.hasEnded;

  /// Tells at each wake; the function that is returned forgets the listener.
  void Function() onWake(void Function() waker) {
    _wakers.add(waker);
    return () => _wakers.remove(waker);
  }

  /// What waits is tried at once.
  void wake() {
    for (final waker in _wakers.toList()) waker();
  }

  void setActive(bool isActive) {
    _isActive = isActive;
    if (isActive) wake();
  }

  void close() {
    _open.end();
    wake();
  }

  Future<void> _pause(Duration time) async {
    if (isClosed) return;
    final over = Completer<void>();
    void end() {
      if (!over.isCompleted) over.complete();
    }

    final timer = Timer(time, end);
    final forget = onWake(end);
    await over.future;
    timer.cancel();
    forget();
  }

  /// Waits for the next try after so many [failures] in a row: as the service asks, else ever longer.
  Future<void> pauseAfter(RecapException? error, int failures) {
    // A token that was refused may be taken after a longer pause.
    final place = error?.code == 401 ? _backOff.length : min(failures, _backOff.length);
    final spread = 1 + _spread * (2 * _random.nextDouble() - 1);
    return _pause(error?.retryAfter ?? _backOff[place - 1] * spread);
  }

  /// Tries until it works, or nobody wants it any more. Throws a [RecapException] that is final.
  Future<void> untilDone(Future<void> Function() work, [Interest? interest]) async {
    final wanted = interest ?? _open;
    for (var failures = 1; !wanted.hasEnded && !isClosed; failures++) {
      try {
        return await work();
      } catch (thrown) {
        final error = offline(thrown);
        if (!error.isPassing) throw error;
        await pauseAfter(error, failures);
      }
    }
  }
}

/// A value that is shown: who listens gets it as it is, then each newer one.
final class Shown<T extends Object>(
  final T Function() _make, {
  // Somebody begins to listen where nobody did.
  required final void Function() _onFirst,
  // Nobody listens any more.
  required final void Function() _onNone,
}) {
  final _listeners = <MultiStreamController<T>>{};
  // They have not asked for more yet: they get the newest one when they do.
  final _resting = <MultiStreamController<T>>{};
  T? _value;
  bool _isDue = false;
  bool _isClosed = false;

  T get value => _value ??= _make();

  late final Stream<T> stream = Stream.multi((listener) {
    listener.add(value);
    if (_isClosed) {
      unawaited(listener.close());
      return;
    }
    listener
      ..onResume = () {
        if (_resting.remove(listener)) listener.add(value);
      }
      ..onCancel = () => _leave(listener);
    _listeners.add(listener);
    if (_listeners.length == 1) _onFirst();
  });

  void _leave(MultiStreamController<T> listener) {
    _resting.remove(listener);
    if (_listeners.remove(listener) && _listeners.isEmpty && !_isClosed) _onNone();
  }

  /// It is another one now. Listeners are told once for all changes of a moment.
  void changed() {
    _value = null;
    if (_isDue || _listeners.isEmpty) return;
    _isDue = true;
    scheduleMicrotask(_tell);
  }

  void _tell() {
    _isDue = false;
    if (_isClosed) return;
    for (final listener in _listeners.toList()) listener.isPaused ? _resting.add(listener) : listener.add(value);
  }

  void close() {
    _isClosed = true;
    for (final listener in _listeners.toList()) unawaited(listener.close());
  }
}
