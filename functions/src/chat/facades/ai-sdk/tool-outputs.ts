import { callId } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls, type ToolResult } from '#shared/conversation/context/tool-results.ts';
import { hasFunctionCall } from '#shared/conversation/documents/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { seqOfId, turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { uiToolOutputs, type UiMessage } from '#shared/wire/facades/ai-sdk.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import { toToolResult } from '#functions/chat/turns/tools/given-result.ts';

const noneOpen = (id: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: `outputs for ${id} were refused: none of its calls waits for them`,
    publicMessage:
      '`messages` ends with outputs of tools, and none of these calls waits for one any more. Call `resumeStream()` for the answer, or send a message of the user.',
    metadata: { field: 'messages', turnId: id },
  });

/** The turn that a message of the assistant stands for; undefined where the caller has none such. */
async function turnOf(
  dependencies: RouteDependencies,
  target: { caller: Caller; conversationId: string; turnId: string },
) {
  try {
    return (await readOwnTurn(dependencies, target)).turn.value;
  } catch (error) {
    // The client's own copy may hold what the server never had.
    if (error instanceof AppError && error.status === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** Another tab has answered the calls, and the answer goes on or went on behind them: its stream is no end of that. */
const goesOn = ({ state, contents }: Turn): boolean => {
  if (state === 'running' || state === 'awaiting_tool') return true;
  const last = contents.at(-1);
  return state === 'done' && last?.role === 'model' && !hasFunctionCall(last);
};

/** What the last message says to calls of an answer. */
type GivenOutputs =
  /** To calls that wait for it. */
  | { kind: 'new'; turnId: string; results: ToolResult[] }
  /** To calls that have been answered, here or in another tab. */
  | { kind: 'known'; turn: Turn };

/**
 * What the last message brings for calls that wait for it: `addToolOutput` and `addToolApprovalResponse` write it into
 * the answer that the client keeps, beside that of earlier rounds. `undefined` when it brings none. Throws BAD_FIELD
 * when it brings some, none is waited for and the answer has ended with them: a replay in its place would make
 * `sendAutomaticallyWhen` send the same for ever.
 */
export async function readToolOutputs(
  dependencies: RouteDependencies,
  target: { caller: Caller; conversationId: string; messages: readonly UiMessage[] },
): Promise<GivenOutputs | undefined> {
  const { caller, conversationId, messages } = target;
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return undefined;
  const seq = seqOfId(String(last['id']), 'm');
  const outputs = uiToolOutputs(last['parts']);
  if (seq === undefined || outputs.length === 0) return undefined;
  const id = turnId(seq);
  const turn = await turnOf(dependencies, { caller, conversationId, turnId: id });
  if (!turn) return undefined;
  const open = new Set(waitingCalls(turn).map(({ index }) => callId(seq, index)));
  const results = outputs
    .filter((output) => open.has(output.callId))
    .map((output) => toToolResult(output, 'messages'));
  if (results.length > 0) return { kind: 'new', turnId: id, results };
  if (!goesOn(turn)) throw noneOpen(id);
  return { kind: 'known', turn };
}
