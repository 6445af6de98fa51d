import type { Turn } from '../conversation/turn.ts';

/** One minute. */
const MINUTE_MS = 60_000;

/**
 * When a turn began by the user's clock, as the UTC fields of a date: the day that "tomorrow" counts from. By UTC
 * where no time zone was told.
 */
export const userTime = ({ createTime, told }: Pick<Turn, 'createTime' | 'told'>): Date =>
  told?.offsetMinutes === undefined
    ? createTime
    : new Date(createTime.getTime() + told.offsetMinutes * MINUTE_MS);
