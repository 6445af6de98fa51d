import type { Turn } from '../conversation/documents/turn.ts';

/** One minute. */
const MINUTE_MS = 60_000;

/**
 * When a turn began by the user's clock, as the UTC fields of a date: the day that "tomorrow" counts from. By UTC
 * where no time zone was told.
 */
export const userTime = ({ createTime, told }: Pick<Turn, 'createTime' | 'told'>): Date =>
  inUserZone(createTime, told);

/** The same for the end of a turn: what waits for an app may be answered days later. */
export const answerTime = (turn: Pick<Turn, 'createTime' | 'finishTime' | 'told'>): Date =>
  inUserZone(turn.finishTime ?? turn.createTime, turn.told);

const inUserZone = (time: Date, told: Turn['told']): Date =>
  told?.offsetMinutes === undefined
    ? time
    : new Date(time.getTime() + told.offsetMinutes * MINUTE_MS);
