/// Chats of a Recap service on this device: README.md.
library;

export 'src/exception.dart' show RecapException;
export 'src/model.dart' hide roleOf;
export 'src/recap.dart' show Chat, ConversationList, Push, Recap;
export 'src/store.dart' show FileStore, MemoryStore, RecapStore;
