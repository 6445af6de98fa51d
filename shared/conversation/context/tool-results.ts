import type { Content } from '#shared/models/content.ts';
import { nextStep, type Rounds, type Turn } from '../documents/turn.ts';
import { canonicalJson } from '#shared/lib/json-text.ts';
import { callId, findCalls, findOpenCalls, withResponses, type ToolCall } from './tool-calls.ts';

/** What the app, or its user, says to one call. */
export type ToolResult = { callId: string } & (
  | { kind: 'response'; response: Record<string, unknown> }
  | { kind: 'approval'; isApproved: boolean }
);

export type ResultsDecision =
  /** There is no such call, or the server answers it without the app or its user. */
  | { kind: 'unknown'; callId: string }
  /** The call has another answer already, or the turn takes no answers any more. */
  | { kind: 'conflict'; callId: string }
  /** A call of the app was to be approved, or one of the server answered. */
  | { kind: 'wrongKind'; callId: string; wants: 'output' | 'approved' }
  /** All of it is known. */
  | { kind: 'known' }
  /** Something new; `isDone`: no call waits any more. */
  | { kind: 'new'; contents: Content[]; rounds: Rounds; isDone: boolean };

/** The response that the model reads where the user did not allow a call. */
export const DENIED = { error: 'denied_by_user' };

type AnsweredTurn = Pick<Turn, 'seq' | 'state' | 'contents' | 'rounds'>;

/** The user has to allow the call before the server runs it. */
const isAsked = ({ rounds }: AnsweredTurn, { index }: ToolCall) =>
  rounds?.asks?.includes(index) === true;

/** The app answers the call. */
export const isOfApp = (
  { rounds }: { rounds?: Pick<Rounds, 'app'> | undefined },
  { index }: ToolCall,
): boolean => rounds?.app.includes(index) === true;

/** A call without a response waits: for the app, or for the word of its user. */
export const isWaitingCall = (
  { app, asks = [], approved = [] }: Pick<Rounds, 'app' | 'asks' | 'approved'>,
  { index }: ToolCall,
): boolean => app.includes(index) || (asks.includes(index) && !approved.includes(index));

/** Calls of the turn that wait for the app, or for the word of its user. */
export const waitingCalls = ({ state, contents, rounds }: AnsweredTurn): ToolCall[] =>
  state === 'awaiting_tool' && rounds
    ? findOpenCalls(contents).filter((call) => isWaitingCall(rounds, call))
    : [];

/** How one result relates to what is stored. */
type ResultClass = 'new' | 'known' | 'conflict' | 'unknown' | 'wrongKind';

function classifyResult(
  turn: AnsweredTurn,
  result: ToolResult,
  call: ToolCall | undefined,
): ResultClass {
  if (!call || !(isOfApp(turn, call) || isAsked(turn, call))) return 'unknown';
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
    ...nextStep(turn.rounds),
    approved: [...(turn.rounds.approved ?? []), ...allowed],
  };
  const isDone = waitingCalls({ ...turn, contents, rounds }).length === 0;
  return { kind: 'new', contents, rounds, isDone };
}

/**
 * What results change of a stored turn, all of them or none. A call takes one answer: the same answer again changes
 * nothing, another one is refused.
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
    const kind = classifyResult(turn, result, call);
    switch (kind) {
      case 'unknown':
      case 'conflict':
        return { kind, callId: result.callId };
      case 'wrongKind':
        return {
          kind,
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
