import 'json.dart';
import 'life.dart';
import 'model.dart';
import 'requester.dart';
import 'store.dart';

/// What all parts of a client share.
final class Core({
  required final RecapStore store,
  required final Requester requester,
  required final Life life,
  required final Timings timings,
  required final Map<String, Tool> tools,
  required final Json Function()? clientContext,
}) {
  final Saver saver = Saver(store);
}
