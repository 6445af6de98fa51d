import type { CommonDependencies } from '#functions/common-dependencies.ts';
import type { NotificationDependencies } from '#functions/worker/notifications/deliver-event.ts';
import type { CompactionHooks } from '#shared/compaction/hooks.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import type {
  ModelGenerator,
  PushTokenVerifier,
  TokenCounter,
  ToolDeclaration,
} from '#shared/ports/ports.ts';

/** What the worker works with: compactions, erasures, sweeps, notifications. Handed in once by the composition root. */
export interface WorkerDependencies extends CommonDependencies, NotificationDependencies {
  model: ModelGenerator & TokenCounter;
  pushTokens: PushTokenVerifier;
  /** Functions that the chat function runs for the model: part of every prompt that is measured. Default: none. */
  serverTools?: readonly ToolDeclaration[];
  /** The app's. Default: none. */
  hooks?: CompactionHooks;
  /** Makes hooks of addresses that the remote document or a conversation names. Absent: none is called. */
  webhooks?: (webhooks: readonly Webhook[]) => CompactionHooks;
}
