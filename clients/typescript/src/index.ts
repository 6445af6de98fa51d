export * from './api.ts';
export { RecapError } from './http/error.ts';
export { createRecap } from './recap.ts';
export { asyncStorageStore } from './storage/async-storage.ts';
export { indexedDbStore } from './storage/indexed-db.ts';
export { memoryStore } from './storage/memory.ts';
export type {
  ContextObject,
  ConversationRow,
  SearchAllResult,
  StoredMessage,
  StreamChunk,
  UserEvent,
} from './wire/wire.ts';
