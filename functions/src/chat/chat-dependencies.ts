import type { ChatSteps } from '../app-steps.ts';
import type { ModelHealth } from '../models/model-health.ts';
import type { BeforeTurnHook } from '#shared/hooks/before-turn.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import type {
  AppCheckVerifier,
  IdTokenVerifier,
  ServiceTokenVerifier,
  RevocationCheck,
  ModelStreamer,
  Quota,
} from '#shared/ports/ports.ts';
import type { LiveTurns } from './turns/live-turn.ts';
import type { Toolbox } from './turns/tools/toolbox.ts';
import type { CommonDependencies } from '../common-dependencies.ts';

/** What the chat function works with; handed in once by the composition root. */
export interface ChatDependencies extends CommonDependencies, ChatSteps {
  /** The turns that this instance is answering now. */
  liveTurns: LiveTurns;
  /** What goes on behind answers of this instance: no request counts as served before it has ended. */
  afterwork: Set<Promise<unknown>>;
  model: ModelStreamer;
  /** Of the models that are called beside answers: one that has failed is left alone. */
  modelHealth: ModelHealth;
  idTokens: IdTokenVerifier;
  /** Tells the servers of the app that may act for users. Absent: there are none. */
  serviceTokens?: ServiceTokenVerifier | undefined;
  /** Asked where APP_CHECK says so. */
  appCheck: AppCheckVerifier;
  /** Asked where CHECK_REVOKED says so. */
  revocations: RevocationCheck;
  /** The functions that this server runs for the model. */
  toolbox: Toolbox;
  quota: Quota;
  /** Makes hooks of addresses that the remote document or a conversation names. Absent: none is called. */
  beforeTurnWebhooks?: (webhooks: readonly Webhook[]) => readonly BeforeTurnHook[];
}

/** Has the request that is being served end behind `work`, which nobody else waits for. */
export function addAfterwork(
  { afterwork }: Pick<ChatDependencies, 'afterwork'>,
  work: Promise<unknown>,
): void {
  afterwork.add(work);
  const remove = () => void afterwork.delete(work);
  work.then(remove, remove);
}
