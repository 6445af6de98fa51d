import type { Content } from '#shared/conversation/documents/content.ts';
import {
  findCalls,
  findOpenCalls,
  type ToolCall,
} from '#shared/conversation/context/tool-calls.ts';
import type { Rounds } from '#shared/conversation/documents/turn.ts';
import { CALLS_PER_ROUND } from '../tools/tool-limits.ts';

/** The open calls of the newest round, in order, by what becomes of them. */
interface NewestCalls {
  /** This server runs them now. */
  due: ToolCall[];
  /** The app runs them, or its user is asked first. */
  waiting: ToolCall[];
  /** More than one round may have, whoever would run them: nobody does. */
  beyond: ToolCall[];
}

/** The calls of a round that are run, by the server or by the app; the model may ask for as many as it likes. */
export const allowedCalls = <Call>(round: readonly Call[]): Call[] =>
  round.slice(0, CALLS_PER_ROUND);

/**
 * What becomes of the open calls of a turn whose contents end with a round. The place of a call in its round decides
 * whether it is run at all; those that have a response count along.
 */
export function newestCalls({
  contents,
  rounds,
}: {
  contents: readonly Content[];
  rounds: Pick<Rounds, 'app' | 'asks' | 'approved'>;
}): NewestCalls {
  const before = findCalls(contents.slice(0, -2)).length;
  const isBeyond = ({ index }: ToolCall) => index >= before + CALLS_PER_ROUND;
  const isWaiting = ({ index }: ToolCall) =>
    rounds.app.includes(index) ||
    (rounds.asks?.includes(index) === true && rounds.approved?.includes(index) !== true);
  const open = findOpenCalls(contents);
  const allowed = open.filter((call) => !isBeyond(call));
  return {
    due: allowed.filter((call) => !isWaiting(call)),
    waiting: allowed.filter(isWaiting),
    beyond: open.filter(isBeyond),
  };
}
