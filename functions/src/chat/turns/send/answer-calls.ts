import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { waitAfterLost } from '#functions/lib/retry.ts';
import { readStoredTurn } from '#shared/conversation/context/read-conversation.ts';
import { callId } from '#shared/conversation/context/tool-calls.ts';
import {
  type ResultsDecision,
  type ToolResult,
  decideToolResults,
  waitingCalls,
} from '#shared/conversation/context/tool-results.ts';
import {
  answerPiecePaths,
  encodeAnswer,
  type Turn,
  type TurnDocument,
  isTerminal,
  withWholePairs,
} from '#shared/conversation/documents/turn.ts';
import { turnId, turnPath } from '#shared/conversation/documents/paths.ts';
import { AppError, GuardLostError } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { contentsBytes } from '../contents-size.ts';
import { answerBegun, sendMessage } from './send-message.ts';
import { type SendHandle, type SendRequest, storedRequest } from './send-request.ts';
import { beginTurnOnce } from '../start/begin-turn.ts';
import { type StartState, knownTurn, readStart } from '../start/read-start.ts';
import { readOwnTurn } from '../stream/read-turn.ts';
import { contentionError, shuttingDownError } from '../turn-errors.ts';
import { ROUNDS_MAX_BYTES } from '../tools/tool-response.ts';

/** How often results are tried that lose their guard. */
const ANSWER_TRIES = 30;

interface GivenResults {
  caller: Caller;
  conversationId: string;
  turnId: string;
  results: readonly ToolResult[];
  locale: string | undefined;
}

type Refusal = Exclude<ResultsDecision, { kind: 'known' | 'new' }>;

const openList = (turn: Turn) => {
  const open = waitingCalls(turn).map(({ index }) => callId(turn.seq, index));
  return open.length === 0 ? 'None waits.' : `Those that wait: ${open.join(', ')}.`;
};

function refusalError(turn: Turn, decision: Refusal): AppError {
  const { kind, callId: id } = decision;
  const metadata = { callId: id, turnId: turnId(turn.seq), state: turn.state };
  switch (kind) {
    case 'unknown':
      return new AppError({
        reason: 'TOOL_CALL_NOT_FOUND',
        publicMessage: `The turn has no call ${id} that the app answers. ${openList(turn)}`,
        metadata,
      });
    case 'conflict':
      return new AppError({
        reason: 'TOOL_RESULT_CONFLICT',
        publicMessage: `The call ${id} has another answer already, or its turn has ended (${turn.state}).`,
        metadata,
      });
    case 'wrongKind':
      return new AppError({
        reason: 'BAD_FIELD',
        publicMessage: `The call ${id} wants \`${decision.wants}\`${decision.wants === 'output' ? ' or `error`: the app runs it' : ': the server runs it once the user allows it'}.`,
        metadata: { ...metadata, field: 'results' },
      });
  }
}

/** Throws TEXT_TOO_LONG (400) where the contents of the turn do not fit one commit. */
function refuseTooLarge({ contents }: Extract<ResultsDecision, { kind: 'new' }>): void {
  const sizeBytes = contentsBytes(contents);
  if (sizeBytes <= ROUNDS_MAX_BYTES) return;
  throw new AppError({
    reason: 'TEXT_TOO_LONG',
    publicMessage: `With \`results\` the tool calls of this answer have ${sizeBytes} bytes; the limit is ${ROUNDS_MAX_BYTES}. Send a shorter output, or an error.`,
    metadata: {
      field: 'results',
      sizeBytes: String(sizeBytes),
      limitBytes: String(ROUNDS_MAX_BYTES),
    },
  });
}

/** Stores results that leave calls open. Throws GuardLostError. */
async function storePart(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId }: GivenResults,
  known: TurnDocument,
  { contents, rounds }: Extract<ResultsDecision, { kind: 'new' }>,
): Promise<void> {
  const { seq, attempt } = known.value;
  const answer = encodeAnswer({ conversationId, seq, attempt, step: rounds.step }, contents);
  await store.commit([
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: { ...answer.fields, rounds: { ...rounds } },
      guard: { updateTime: known.updateTime },
    },
    ...answer.writes,
    ...answerPiecePaths(known).map((path) => ({ op: 'delete' as const, path })),
  ]);
}

/** Goes on with a turn whose calls have all been answered; undefined: read again. */
async function goOn(
  dependencies: ChatDependencies,
  { request, state }: { request: SendRequest; state: StartState },
  { contents, rounds }: Extract<ResultsDecision, { kind: 'new' }>,
): Promise<SendHandle | undefined> {
  const { seq, attempt, usage, settled, isCounted, grounding, leftOutFiles } =
    knownTurn(state).value;
  const kept = { contents, rounds, usage, settled, isCounted, grounding, leftOutFiles };
  const resume = { kind: 'resume' as const, seq, attempt, kept };
  const begun = await beginTurnOnce(dependencies, { request, state, decision: resume });
  if (!begun) return undefined;
  await passCrashPoint(dependencies, 'turn-resumed');
  return answerBegun(dependencies, request, begun);
}

/** One try; undefined: what was read does not fit together, read again. */
async function tryAnswer(
  dependencies: ChatDependencies,
  given: GivenResults,
): Promise<SendHandle | undefined> {
  const { conversationId, caller, locale } = given;
  const { turn: own } = await readOwnTurn(dependencies, given);
  const request = storedRequest({ caller, conversationId, locale, cursor: undefined }, own.value);
  const state = await readStart(dependencies, request);
  if (!state.known) return undefined;
  const { value } = await readStoredTurn(dependencies.store, conversationId, state.known);
  const turn = isTerminal(value.state) ? withWholePairs(value) : value;
  const decision = decideToolResults(turn, given.results);
  switch (decision.kind) {
    case 'new':
      refuseTooLarge(decision);
      if (decision.isDone) return goOn(dependencies, { request, state }, decision);
      await storePart(dependencies, given, state.known, decision);
      await passCrashPoint(dependencies, 'results-stored');
      break;
    case 'known':
      break;
    case 'unknown':
    case 'conflict':
    case 'wrongKind':
      throw refusalError(turn, decision);
  }
  return sendMessage(dependencies, request);
}

/**
 * Stores the results of the app, or the word of its user, for calls of a turn that waits. When no call is left open,
 * the turn goes on under the same attempt; else it waits on. The same results again change nothing and return the turn
 * as it stands. Throws NOT_FOUND, TURN_NOT_FOUND, TOOL_CALL_NOT_FOUND, TOOL_RESULT_CONFLICT, BAD_FIELD, and what a send
 * throws.
 */
export async function answerCalls(
  dependencies: ChatDependencies,
  given: GivenResults,
): Promise<SendHandle> {
  if (dependencies.shutdown.aborted) throw shuttingDownError('tool results were refused');
  // Not `retry`: a try whose documents did not fit together is made again, too.
  for (let tries = 0; tries < ANSWER_TRIES; tries++) {
    try {
      const handle = await tryAnswer(dependencies, given);
      if (handle) return handle;
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
    }
    await waitAfterLost(dependencies.clock, tries);
  }
  throw contentionError();
}
