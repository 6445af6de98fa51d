import type { CallerTier } from '../ports/ports.ts';
import {
  MINUTE_MS,
  type OpenReservation,
  type Usage,
  begunWithin,
  countStreams,
  heldAt,
  heldBesideLargest,
  heldMessages,
  nextDay,
  noUsage,
  openAt,
  sumOfCosts,
  totalSpentMicros,
} from './usage.ts';

/** What one user may take; 0 = no limit. */
export interface QuotaLimits {
  messagesPerDay: number;
  /** Uncached input and output, thoughts included. */
  tokensPerDay: number;
  requestsPerMinute: number;
  /** Conversations, forks, devices and notes, as `creationsOfFork` counts them. */
  creationsPerDay: number;
  /** Answers on their way at once, and, on one instance, open streams. */
  streams: number;
  /** Compactions and titles included; millionths of a US dollar. */
  costMicrosPerDay: number;
}

export type LimitName = keyof QuotaLimits;

export interface QuotaSettings {
  byTier: Readonly<Record<CallerTier, QuotaLimits>>;
  /** What all users together may cost in a day; millionths of a US dollar, 0 = no limit. */
  globalCostMicrosPerDay: number;
}

const isLimited = (limits: QuotaLimits): boolean =>
  Object.values(limits).some((limit: number) => limit > 0);

/** Whether anything is limited. */
export const hasLimits = ({ byTier, globalCostMicrosPerDay }: QuotaSettings): boolean =>
  globalCostMicrosPerDay > 0 || Object.values(byTier).some(isLimited);

/** When others of the same user are on their way, one of them may be done after this time. */
export const BUSY_RETRY_MS = 5_000;

/** The document of a user holds no more of them, whatever is allowed. */
export const OPEN_MAX = 500;

/** What an answer asks for. */
export interface Wanted {
  id: string;
  conversation: string;
  attempt: number;
  tokens: number;
  costMicros: number;
  /** A turn that has been allowed goes on with another call: only the tokens and the dollars of the day count. */
  isMore?: boolean;
  /** Its message stands among those of the day. */
  isCounted?: boolean;
  /** Names the request that asks. */
  holder: string;
}

export interface QuotaRefusal {
  name: LimitName;
  limit: number;
  used: number;
  /** Held by answers on their way. */
  reserved: number;
  /** What this one would take. */
  wanted: number;
  /** When the limit begins anew. */
  resetTime: Date;
  retryAfterMs: number;
}

type ReserveDecision =
  | {
      kind: 'reserved';
      usage: Usage;
      /** Absent: the day before stays as it is. */
      dayBefore?: Usage;
    }
  | { kind: 'refused'; refusal: QuotaRefusal };

interface Asked {
  usage: Usage;
  /** Figures of the day before, shortly after midnight: what began then may be on its way. */
  dayBefore?: Usage | undefined;
  limits: QuotaLimits;
  wanted: Wanted;
  /** Ids of reservations that nobody needs any more. */
  abandoned: readonly string[];
  /** How long an answer may take before its reservation is nobody's. */
  holdMs: number;
  now: Date;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Of messages that one conversation gets at once one is answered: they have one place together. */
function streamsRefusal(all: readonly OpenReservation[], { limits, wanted, now }: Asked) {
  const limit = limits.streams > 0 ? Math.min(limits.streams, OPEN_MAX) : OPEN_MAX;
  const others = all.filter(({ conversation }) => conversation !== wanted.conversation);
  const used = countStreams(others);
  if (used < limit && all.length < OPEN_MAX) return undefined;
  const soonest = Math.min(...all.map(({ until }) => until.getTime()));
  return {
    name: 'streams' as const,
    limit,
    used,
    reserved: 0,
    wanted: 1,
    resetTime: new Date(Math.max(soonest, now.getTime())),
    retryAfterMs: BUSY_RETRY_MS,
  };
}

function minuteRefusal(begun: readonly Date[], { limits, now }: Asked) {
  const limit = limits.requestsPerMinute;
  if (limit === 0 || begun.length < limit) return undefined;
  // As many have to leave the minute as are too many with this one.
  const last = begun.map((at) => at.getTime()).toSorted((a, b) => a - b)[begun.length - limit];
  const resetTime = new Date((last ?? now.getTime()) + MINUTE_MS);
  return {
    name: 'requestsPerMinute' as const,
    limit,
    used: begun.length,
    reserved: 0,
    wanted: 1,
    resetTime,
    retryAfterMs: Math.max(1, resetTime.getTime() - now.getTime()),
  };
}

/** A limit of the day: what is settled, on its way and wanted must fit together. */
function dayRefusal(
  quotaRefusal: Pick<QuotaRefusal, 'name' | 'used' | 'reserved' | 'wanted'>,
  { limits, now }: Pick<Asked, 'limits' | 'now'>,
): QuotaRefusal | undefined {
  const limit = limits[quotaRefusal.name];
  const { used, reserved, wanted } = quotaRefusal;
  if (limit === 0 || used + reserved + wanted <= limit) return undefined;
  const resetTime = nextDay(now);
  const fitsAlone = used + wanted <= limit;
  const untilResetMs = resetTime.getTime() - now.getTime();
  return {
    ...quotaRefusal,
    limit,
    resetTime,
    retryAfterMs: fitsAlone ? BUSY_RETRY_MS : untilResetMs,
  };
}

/** Why work that is no message is not begun: of the dollars of the day nothing is left. */
export const spentRefusal = (
  usage: Usage,
  asked: Pick<Asked, 'limits' | 'now'>,
): QuotaRefusal | undefined =>
  dayRefusal(
    { name: 'costMicrosPerDay', used: totalSpentMicros(usage), reserved: 0, wanted: 1 },
    asked,
  );

/** What the day still allows of what is counted in tokens and dollars. */
function spendingRefusal(others: readonly OpenReservation[], asked: Asked) {
  const { usage, wanted } = asked;
  return (
    dayRefusal(
      {
        name: 'tokensPerDay',
        used: usage.tokens,
        reserved: sum(others.map(({ tokens }) => tokens)),
        wanted: wanted.tokens,
      },
      asked,
    ) ??
    dayRefusal(
      {
        name: 'costMicrosPerDay',
        used: totalSpentMicros(usage),
        // Calls that are no messages hold dollars alone.
        reserved: sumOfCosts(others) + heldBesideLargest(heldAt(usage.held, asked.now)),
        wanted: wanted.costMicros,
      },
      asked,
    )
  );
}

function refusalOf(
  others: readonly OpenReservation[],
  before: readonly OpenReservation[],
  asked: Asked,
) {
  const { usage, dayBefore = noUsage, wanted, now } = asked;
  const begun = [...begunWithin(dayBefore, now), ...begunWithin(usage, now)];
  return (
    streamsRefusal([...others, ...before], asked) ??
    minuteRefusal(begun, asked) ??
    dayRefusal(
      {
        name: 'messagesPerDay',
        used: asked.usage.messages,
        reserved: heldMessages(others),
        wanted: wanted.isCounted === true ? 0 : 1,
      },
      asked,
    ) ??
    spendingRefusal(others, asked)
  );
}

/**
 * Whether an answer may begin, and what the user's document of the day becomes then. What is settled, what
 * is on its way and what is wanted must fit every limit together. One that holds a reservation already (a
 * turn that is taken over) only renews it: it was allowed before. Requests that bring one message at once share the
 * largest reservation among them. Reservations whose time is over are gone; one that
 * is renewed after midnight moves to the new day.
 */
export function decideReservation(asked: Asked): ReserveDecision {
  const { usage, dayBefore = noUsage, limits, wanted, abandoned, holdMs, now } = asked;
  const isOther = ({ id }: OpenReservation) => id !== wanted.id && !abandoned.includes(id);
  const open = openAt(usage, now);
  const openBefore = openAt(dayBefore, now);
  const others = open.filter(isOther);
  const othersBefore = openBefore.filter(isOther);
  const same = [...open, ...openBefore].find(({ id }) => id === wanted.id);
  const shared = same?.attempt === wanted.attempt ? same : undefined;
  // What comes under the id of a message while that begins may be another, larger one.
  const isLarger =
    shared !== undefined &&
    (wanted.tokens > shared.tokens || wanted.costMicros > shared.costMicros);
  const refusal =
    wanted.isMore === true || isLarger
      ? spendingRefusal(others, asked)
      : same
        ? undefined
        : refusalOf(others, othersBefore, asked);
  if (refusal) return { kind: 'refused', refusal };
  const { id, conversation, attempt, isCounted, holder } = wanted;
  const holders = shared?.holders ?? [];
  // Any of those who hold it may be the one whose turn begins.
  const heldByOthers = holders.some((other) => other !== holder) ? shared : undefined;
  const tokens = Math.max(wanted.tokens, heldByOthers?.tokens ?? 0);
  const costMicros = Math.max(wanted.costMicros, heldByOthers?.costMicros ?? 0);
  const until = new Date(now.getTime() + holdMs);
  const begins = !same && wanted.isMore !== true && limits.requestsPerMinute > 0;
  const begun = begunWithin(usage, now);
  const isMoved = othersBefore.length < openBefore.length;
  return {
    kind: 'reserved',
    usage: {
      ...usage,
      held: heldAt(usage.held, now),
      open: [
        ...others,
        {
          id,
          conversation,
          attempt,
          tokens,
          costMicros,
          ...(isCounted === true && { isCounted }),
          holders: [...new Set([...holders, holder])],
          since: same?.since ?? now,
          until,
        },
      ],
      begun: begins ? [...begun, now] : begun,
    },
    ...(isMoved && { dayBefore: { ...dayBefore, open: othersBefore } }),
  };
}

/**
 * The figures once a request gives up what it reserved, because its turn did not begin: as if it had never asked, unless
 * another one that brings the same message holds it, too.
 */
export function withoutHolder(
  usage: Usage,
  { id, attempt, holder }: Pick<Wanted, 'id' | 'attempt' | 'holder'>,
): Usage {
  const reservation = usage.open.find((open) => open.id === id && open.attempt === attempt);
  if (!reservation?.holders.includes(holder)) return usage;
  const holders = reservation.holders.filter((other) => other !== holder);
  if (holders.length > 0)
    return {
      ...usage,
      open: usage.open.map((open) => (open === reservation ? { ...reservation, holders } : open)),
    };
  const place = usage.begun.findIndex((at) => at.getTime() === reservation.since.getTime());
  return {
    ...usage,
    open: usage.open.filter((open) => open !== reservation),
    begun: place < 0 ? usage.begun : usage.begun.toSpliced(place, 1),
  };
}

/** Turns of a fork that count as one thing made: each is a copy of some documents. */
const TURNS_PER_CREATION = 100;

/** As how many things a fork of so many turns counts. */
export const creationsOfFork = (turns: number): number =>
  Math.max(1, Math.ceil(turns / TURNS_PER_CREATION));

type CreationDecision =
  | { kind: 'counted'; usage: Usage }
  | { kind: 'refused'; refusal: QuotaRefusal };

/** Whether a user may make so much more on a day, and what their document of the day becomes then. */
export function decideCreation(
  usage: Usage,
  wanted: number,
  input: { limits: QuotaLimits; now: Date },
): CreationDecision {
  const creations = { name: 'creationsPerDay', used: usage.created, reserved: 0, wanted } as const;
  const refusal = dayRefusal(creations, input);
  return refusal
    ? { kind: 'refused', refusal }
    : { kind: 'counted', usage: { ...usage, created: usage.created + wanted } };
}

/** Millionths of a dollar that one limit of the day is compared with. */
export interface Spending {
  /** 0 = no limit. */
  limitMicros: number;
  /** Settled. */
  usedMicros: number;
  /** Held by calls on their way. */
  heldMicros: number;
  /** What the next call may cost at most. */
  wantedMicros: number;
}

/** `spent`: nothing is left until the day turns; `held`: what others on their way leave is too little. */
export type SpendRefusal = 'spent' | 'held';

/**
 * Whether a call may begin under a limit in dollars. It must fit beside those on their way, so that many at once
 * pass the limit no more than one would. The only one on its way needs no more than that something is left: else a
 * limit below what a call may cost at most would let none begin, though most cost a small part of that.
 */
export function spendRefusal(spending: Spending): SpendRefusal | undefined {
  const { limitMicros, usedMicros, heldMicros, wantedMicros } = spending;
  if (limitMicros === 0) return undefined;
  if (usedMicros >= limitMicros) return 'spent';
  return heldMicros > 0 && usedMicros + heldMicros + wantedMicros > limitMicros
    ? 'held'
    : undefined;
}
