import { withoutSignatures } from '#shared/conversation/repair/own-signatures.ts';
import { answerText } from '#shared/conversation/context/answer-text.ts';
import { groundingWithin } from '#shared/grounding/locate-claims.ts';
import { readStoredTurn } from '#shared/conversation/context/read-conversation.ts';
import { modelName } from '#shared/models/model-entry.ts';
import { isRouted } from '#shared/routing/routing.ts';
import type { Turn, TurnDocument, TurnUsage } from '#shared/conversation/documents/turn.ts';
import type { KeptRounds } from '#shared/conversation/writes/turn-writes.ts';
import { firstFrameId } from '#shared/wire/frame-ids.ts';
import type { ProgressAtStart } from '../store/turn-progress.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { QueuedDecision } from '#shared/conversation/decisions/queue-decision.ts';
import type { StartDecision } from '#shared/conversation/decisions/start-decision.ts';

/** What attempts before this one have left, and what it cost. */
interface Kept extends KeptRounds {
  usage: TurnUsage | undefined;
  settled: TurnUsage | undefined;
  grounding: Turn['grounding'];
  leftOutFiles: Turn['leftOutFiles'];
}

/**
 * The rounds of a turn that is taken over or goes on with `model`, those whose calls nobody answered included. Where
 * the turn's model has been retired meanwhile, without signatures: its successor cannot read them.
 */
export async function keptRounds(
  dependencies: Pick<ChatDependencies, 'store'>,
  conversationId: string,
  turn: { decision: Beginning; known: TurnDocument | undefined; model: string },
): Promise<Kept | undefined> {
  const kept = await storedRounds(dependencies, conversationId, turn);
  const before = turn.known?.value.model ?? turn.model;
  // The model of an `auto` turn is chosen later, and noted beside it.
  const isReadable = isRouted(turn.model) || modelName(before) === modelName(turn.model);
  return kept && !isReadable ? { ...kept, contents: withoutSignatures(kept.contents) } : kept;
}

async function storedRounds(
  { store }: Pick<ChatDependencies, 'store'>,
  conversationId: string,
  { decision, known }: { decision: Beginning; known: TurnDocument | undefined },
): Promise<Kept | undefined> {
  if (decision.kind === 'resume') return decision.kept;
  if (decision.kind !== 'takeOver' || known?.value.rounds === undefined) return undefined;
  const stored = (await readStoredTurn(store, conversationId, known)).value;
  const { rounds, usage, settled, leftOutFiles } = stored;
  if (!rounds) return undefined;
  const contents = stored.contents.slice(0, 2 * rounds.count);
  const grounding = groundingWithin(stored.grounding, answerText(contents).length);
  return { contents, rounds, usage, settled, grounding, leftOutFiles };
}

/** What a producer begins with: a new attempt, or one that goes on after a pause. */
export function progressAtStart(input: {
  decision: Beginning;
  kept: Kept | undefined;
  known: TurnDocument | undefined;
}): ProgressAtStart {
  const { decision, kept, known } = input;
  if (decision.kind === 'resume') {
    const { lastFrameId = -1 } = known?.value ?? {};
    return { ...(kept ?? decision.kept), nextFrameId: lastFrameId + 1, isResumed: true };
  }
  return {
    contents: [],
    ...kept,
    ...(kept && { rounds: { ...kept.rounds, step: kept.rounds.step + 1, frames: [] } }),
    nextFrameId: firstFrameId('attempt' in decision ? decision.attempt : 1),
    isResumed: false,
  };
}

/** The ways in which a turn gets a producer. */
export type Beginning =
  | Extract<StartDecision, { kind: 'start' | 'takeOver' }>
  | Extract<QueuedDecision, { kind: 'beginQueued' }>
  /** The app has answered all that a turn waited for. */
  | { kind: 'resume'; seq: number; attempt: number; kept: Kept };
