import { findCalls } from '#shared/conversation/context/tool-calls.ts';
import { type Content, hasFunctionCall } from '#shared/models/content.ts';
import { canonicalJson } from '#shared/lib/json-text.ts';

/**
 * A call, or a series of calls, that the model asks for so often in a row is a loop, as in Gemini CLI: the fifth time is
 * the detection, and is not run. What happens then is told in docs/guides/tools.md.
 */
const LOOP_TIMES = 5;
/** The longest series that is looked for. */
const LOOP_LENGTH_MAX = 5;

/** A call of a tool, and its response where there is one. */
export interface LoopCall {
  name: string;
  args: Readonly<Record<string, unknown>>;
  response?: Readonly<Record<string, unknown>> | undefined;
}

/** Names of the tools that are asked again and again until something has happened. */
type PolledTools = ReadonlySet<string>;

interface CallLoop {
  /** Calls that make the series. */
  length: number;
  /** How often it stands at the end, at least LOOP_TIMES. */
  times: number;
}

/** Detections in one turn: with the first one the model is told, with the second one the turn ends. */
const LOOP_DETECTIONS = 2;

const FEEDBACK_KEY = 'repeatedCall';

/** The response of a call that was not run because it repeats itself: what the model reads, and a mark. */
export const loopFeedback = ({ length, times }: CallLoop): Record<string, unknown> => ({
  error:
    length === 1
      ? `This call was asked for ${times} times in a row with the same arguments and gave nothing new. It was not run again. Do not repeat it: change the arguments, use another tool, or answer with what is known and say what is missing or still to come.`
      : `The same ${length} calls were asked for ${times} times in a row and gave nothing new. They were not run again. Do not repeat them: change the arguments, use another tool, or answer with what is known and say what is missing or still to come.`,
  [FEEDBACK_KEY]: true,
});

const isFeedback = ({ response }: LoopCall): boolean => response?.[FEEDBACK_KEY] === true;

interface Step {
  call: string;
  /** Undefined of a call that was not run: it says nothing about what running it would give. */
  response: string | undefined;
  /** Of a tool that is polled: equal to no other. */
  isPolled: boolean;
}

/** Equal calls of one round are one: none of them could know what the others gave. */
function stepsOf(round: readonly LoopCall[], polled: PolledTools): Step[] {
  const responses = new Map<string, Set<string>>();
  const polling = new Set<string>();
  for (const each of round) {
    const call = canonicalJson([each.name, each.args]);
    const known = responses.get(call) ?? new Set();
    responses.set(call, known);
    if (polled.has(each.name)) polling.add(call);
    if (each.response && !isFeedback(each)) known.add(canonicalJson(each.response));
  }
  return [...responses].map(([call, known]) => ({
    call,
    response: known.size === 0 ? undefined : [...known].toSorted().join('\n'),
    isPolled: polling.has(call),
  }));
}

/** Whether two calls are the same, and gave the same as far as is known. */
const isSame = (a: Step | undefined, b: Step | undefined): boolean =>
  a?.call === b?.call &&
  a?.isPolled !== true &&
  (a?.response === b?.response || a?.response === undefined || b?.response === undefined);

/** How often the last `length` steps stand at the end in a row. */
function timesAtEnd(steps: readonly Step[], length: number): number {
  // The newest response of each place that is known: what those before it are compared with.
  const series = steps.slice(-length);
  let times = 1;
  for (let end = steps.length - length; end >= length; end -= length) {
    const before = steps.slice(end - length, end);
    if (!before.every((step, i) => isSame(step, series[i]))) break;
    for (const [i, step] of before.entries())
      series[i] = { ...step, response: series[i]?.response ?? step.response };
    times += 1;
  }
  return times;
}

/**
 * The series of one to five calls that the model asks for at least the fifth time in a row, or undefined.
 * `rounds`: all calls of the turn, oldest first; the last round may have no responses yet. A call whose
 * response changes from time to time is none: a model that asks for the state of something until it is there, or
 * pages through results by a cursor of the server, gets on. Nor is a series with a call of one of the tools in
 * `polled`: a model that waits may hear "pending" a hundred times; the limit of rounds bounds it.
 */
export function findCallLoop(
  rounds: readonly (readonly LoopCall[])[],
  polled: PolledTools = new Set(),
): CallLoop | undefined {
  const steps = rounds.flatMap((round) => stepsOf(round, polled));
  for (let length = 1; length <= LOOP_LENGTH_MAX && length * LOOP_TIMES <= steps.length; length++) {
    const times = timesAtEnd(steps, length);
    if (times >= LOOP_TIMES) return { length, times };
  }
  return undefined;
}

/**
 * Whether a turn is to end because it loops: the model was told once (`loopFeedback`), went on, and was told
 * again. Read from the responses, so that an attempt that takes the turn over decides the same.
 */
export const hasLooped = (rounds: readonly (readonly LoopCall[])[]): boolean =>
  rounds.filter((round) => round.some(isFeedback)).length >= LOOP_DETECTIONS;

/** The calls of a turn by round, one for each content of the model that has any. */
export function roundsIn(contents: readonly Content[]): LoopCall[][] {
  const calls = findCalls(contents);
  let next = 0;
  return contents
    .filter((content) => content.role === 'model' && hasFunctionCall(content))
    .map(({ parts }) => {
      const count = parts.filter(({ functionCall }) => functionCall !== undefined).length;
      return calls.slice(next, (next += count));
    });
}

const LIMIT_KEY = 'roundLimit';

/** The response of a call beyond the rounds that one answer may have: what the model reads, and a mark. */
export const roundLimitResponse = (limit: number): Record<string, unknown> => ({
  error: `The limit of ${limit} rounds of tool calls in one answer is reached: this call was not run, and no other will be. Answer with what is known, and say what is missing.`,
  [LIMIT_KEY]: limit,
});

/**
 * How many rounds a turn was allowed, if it asked for more and was answered with what there was; else undefined. Read
 * from its responses, so that every replay says the same whatever the limit is today.
 */
export function findRoundLimit(contents: readonly Content[]): number | undefined {
  for (const { parts } of contents)
    for (const { functionResponse } of parts) {
      const limit = functionResponse?.response?.[LIMIT_KEY];
      if (typeof limit === 'number' && functionResponse?.response?.['error'] !== undefined)
        return limit;
    }
  return undefined;
}

/** Why an answer ended that Recap stopped, among the reasons that models give: their text said the same again and again, */
export const LOOP_OF_TEXT = 'LOOP_OF_TEXT';
/** or they made the same calls again and again. */
export const LOOP_OF_CALLS = 'LOOP_OF_CALLS';

/** What of an answer repeated itself. */
type LoopKind = 'text' | 'calls';

/** What the reason to stop that is stored with a turn says of a loop; undefined: there was none. */
export function loopKind(finishReason: string | undefined): LoopKind | undefined {
  if (finishReason === LOOP_OF_TEXT) return 'text';
  return finishReason === LOOP_OF_CALLS ? 'calls' : undefined;
}
