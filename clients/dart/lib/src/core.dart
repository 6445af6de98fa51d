import 'exception.dart';
import 'json.dart';
import 'life.dart';
import 'model.dart';
import 'requester.dart';
import 'store.dart';

/// What the app has given, and what all parts of a client share.
final class Core({
  required final String baseUrl,
  required final Future<String> Function(bool force) getIdToken,
  required final Future<String> Function()? getAppCheckToken,
  required final RecapStore store,
  required final Map<String, Tool> tools,
  required final Json Function()? clientContext,
  required final Timings timings,

  /// The store is not that of the user who is signed in.
  required final void Function(RecapException error) onOtherUser,
}) {
  final life = Life(timings.backOff);
  final saver = Saver(store);
  late final requester = Requester(this);
}
