import type { Config } from '#functions/config.ts';
import type { Accounting } from '#functions/quota/accounting.ts';
import type { CompactionHooks } from '#shared/compaction/hooks.ts';
import type { ConversationCache } from '#shared/conversation/context/read-conversation.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import type {
  FileBucket,
  PushTokenVerifier,
  AtCrashPoint,
  Clock,
  DocumentStore,
  EventPublisher,
  Logger,
  ModelGenerator,
  Randomness,
  Sha256,
  Signer,
  TokenCounter,
  ToolDeclaration,
} from '#shared/ports/ports.ts';
import type { NotificationDependencies } from '../notifications/notification-dependencies.ts';

/** What the compaction worker works with; handed in once by the composition root. */
export interface CompactionDependencies extends NotificationDependencies {
  config: Config;
  store: DocumentStore;
  accounting: Accounting;
  cache: ConversationCache;
  publisher: EventPublisher;
  model: ModelGenerator & TokenCounter;
  /** The bucket of uploads; undefined where there are none. */
  files?: FileBucket | undefined;
  pushTokens: PushTokenVerifier;
  clock: Clock;
  randomness: Randomness;
  sha256: Sha256;
  /** Signs what webhooks read folded turns with; absent where HOOK_SIGNING_KEY is not set. */
  signer?: Signer | undefined;
  logger: Logger;
  atCrashPoint: AtCrashPoint;
  /** Fires when the process is about to end: running work stops, and goes on elsewhere. */
  shutdown: AbortSignal;
  /** Functions that the chat function runs for the model: part of every prompt that is measured. Default: none. */
  serverTools?: readonly ToolDeclaration[];
  /** The deployment's own. Default: none. */
  hooks?: CompactionHooks;
  /** Makes hooks of addresses that the remote document or a conversation names. Absent: none is called. */
  webhooks?: (webhooks: readonly Webhook[]) => CompactionHooks;
}
