import type { Content } from '#shared/models/content.ts';
import type { Rounds, Turn } from '../documents/turn.ts';
import { canonicalJson } from '#shared/lib/json-text.ts';
import { callId, findCalls, withResponses, type ToolCall } from './tool-calls.ts';

/** What the app, or its user, says to one call. */
export type ToolResult = { callId: string } & (
  | { kind: 'response'; response: Record<string, unknown> }
  | { kind: 'approval'; isApproved: boolean }
);

export type ResultsDecision =
  /** There is no such call, or not one that the app has to do with. */
  | { kind: 'unknown'; callId: string }
  /** The call has another answer already, or none will be taken any more. */
  | { kind: 'conflict'; callId: string }
  /** A call of the app was to be approved, or one of the server answered. */
  | { kind: 'wrongKind'; callId: string; wants: 'output' | 'approved' }
  /** All of it is known. */
  | { kind: 'known' }
  /** Something new; `isDone`: nothing is left for the app to do. */
  | { kind: 'new'; contents: Content[]; rounds: Rounds; isDone: boolean };

/** What the user's no says to the model. */
export const DENIED = { error: 'denied_by_user' };

type AnsweredTurn = Pick<Turn, 'seq' | 'state' | 'contents' | 'rounds'>;

const isAsked = ({ rounds }: AnsweredTurn, { index }: ToolCall) =>
  rounds?.asks?.includes(index) === true;

const isApps = ({ rounds }: AnsweredTurn, { index }: ToolCall) =>
  rounds?.app.includes(index) === true;

/** Calls that wait for the app, or for the word of its user. */
export const waitingCalls = (turn: AnsweredTurn): ToolCall[] =>
  turn.state === 'awaiting_tool'
    ? findCalls(turn.contents).filter(
        (call) =>
          call.response === undefined &&
          (isApps(turn, call) ||
            (isAsked(turn, call) && turn.rounds?.approved?.includes(call.index) !== true)),
      )
    : [];

type Standing = 'new' | 'known' | 'conflict' | 'unknown' | 'wrongKind';

/** How one result stands to what is stored. */
function standingOf(turn: AnsweredTurn, result: ToolResult, call: ToolCall | undefined): Standing {
  if (!call || !(isApps(turn, call) || isAsked(turn, call))) return 'unknown';
  if ((result.kind === 'approval') !== isAsked(turn, call)) return 'wrongKind';
  const isApproved = turn.rounds?.approved?.includes(call.index) === true;
  if (result.kind === 'approval' && isApproved) return result.isApproved ? 'known' : 'conflict';
  if (call.response === undefined) return turn.state === 'awaiting_tool' ? 'new' : 'conflict';
  const given = result.kind === 'response' ? result.response : result.isApproved ? {} : DENIED;
  return canonicalJson(given) === canonicalJson(call.response) ? 'known' : 'conflict';
}

function withNew(
  turn: AnsweredTurn & { rounds: Rounds },
  news: readonly { call: ToolCall; result: ToolResult }[],
): ResultsDecision {
  const byIndex = new Map(news.map(({ call, result }) => [call.index, result]));
  const contents = withResponses(turn.contents, ({ index }) => {
    const result = byIndex.get(index);
    if (result?.kind === 'response') return result.response;
    return result?.isApproved === false ? DENIED : undefined;
  });
  const allowed = news.flatMap(({ call, result }) =>
    result.kind === 'approval' && result.isApproved ? [call.index] : [],
  );
  const rounds = {
    ...turn.rounds,
    step: turn.rounds.step + 1,
    approved: [...(turn.rounds.approved ?? []), ...allowed],
  };
  const isDone = waitingCalls({ ...turn, contents, rounds }).length === 0;
  return { kind: 'new', contents, rounds, isDone };
}

/**
 * What results come to for a turn that is stored so: each call is answered once, the same answer again changes
 * nothing, another one is refused. All of them or none.
 */
export function decideToolResults(
  turn: AnsweredTurn,
  results: readonly ToolResult[],
): ResultsDecision {
  const news: { call: ToolCall; result: ToolResult }[] = [];
  const calls = new Map(
    findCalls(turn.contents).map((call) => [callId(turn.seq, call.index), call]),
  );
  for (const result of results) {
    const call = calls.get(result.callId);
    const standing = standingOf(turn, result, call);
    switch (standing) {
      case 'unknown':
      case 'conflict':
        return { kind: standing, callId: result.callId };
      case 'wrongKind':
        return {
          kind: standing,
          callId: result.callId,
          wants: result.kind === 'approval' ? 'output' : 'approved',
        };
      case 'new':
        if (call) news.push({ call, result });
        break;
      case 'known':
    }
  }
  const { rounds } = turn;
  return rounds && news.length > 0 ? withNew({ ...turn, rounds }, news) : { kind: 'known' };
}
