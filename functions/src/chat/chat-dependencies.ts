import type { ConversationCache } from '../../../shared/conversation/read-conversation.ts';
import type {
  AtCrashPoint,
  Clock,
  DocumentStore,
  EventPublisher,
  IdTokenVerifier,
  Logger,
  ModelStreamer,
  Quota,
  Randomness,
  Sha256,
  Signer,
} from '../../../shared/ports.ts';
import type { Config } from '../config.ts';
import type { LiveTurns } from './answer/live-turn.ts';

/** What the chat function works with; handed in once by the composition root. */
export interface ChatDependencies {
  config: Config;
  store: DocumentStore;
  cache: ConversationCache;
  /** The turns that this instance is answering now. */
  liveTurns: LiveTurns;
  publisher: EventPublisher;
  model: ModelStreamer;
  idTokens: IdTokenVerifier;
  quota: Quota;
  clock: Clock;
  randomness: Randomness;
  sha256: Sha256;
  signer: Signer;
  logger: Logger;
  atCrashPoint: AtCrashPoint;
  /** Fires when the process has been told to end: new messages are refused, running turns go on. */
  shutdown: AbortSignal;
}
