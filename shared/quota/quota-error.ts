import { AppError } from '#shared/lib/errors.ts';
import type { CallerTier } from '#shared/ports/ports.ts';
import {
  BUSY_RETRY_MS,
  type LimitName,
  type QuotaRefusal,
  type SpendRefusal,
  type Spending,
} from './reserve-decision.ts';
import { nextDay } from './usage.ts';

/** For a limit that passes within this time a message waits in its queue, ms: two of the minutes that limits count. */
const LIMIT_WAIT_MAX_MS = 120_000;

/** Whether an error is a limit that passes while a message waits. */
export const isPassingLimit = ({
  status,
  retryable,
  retryAfterMs = Infinity,
}: Pick<AppError, 'status' | 'retryable' | 'retryAfterMs'>): boolean =>
  status === 'RESOURCE_EXHAUSTED' && retryable && retryAfterMs <= LIMIT_WAIT_MAX_MS;

const reasons: Readonly<Record<LimitName, string>> = {
  streams: 'USER_STREAMS',
  requestsPerMinute: 'USER_RPM',
  messagesPerDay: 'USER_DAILY_MESSAGES',
  creationsPerDay: 'USER_DAILY_CREATIONS',
  tokensPerDay: 'USER_DAILY_TOKENS',
  costMicrosPerDay: 'USER_DAILY_USD',
};

const isOfDay = (name: LimitName) => name !== 'streams' && name !== 'requestsPerMinute';

/** Whether the limit would hold the answer but for others that are on their way. */
const isHeldByOthers = ({ used, wanted, limit }: QuotaRefusal) => used + wanted <= limit;

function dayAdvice(refusal: QuotaRefusal, tier: CallerTier): string {
  if (isHeldByOthers(refusal))
    return 'Other answers are on their way and hold the rest: send it again when they are done';
  const from = `${refusal.resetTime.toISOString()} on`;
  return tier === 'anonymous'
    ? `Sign in to go on with more, or come back from ${from}`
    : `Go on from ${from}`;
}

function publicMessage(refusal: QuotaRefusal, tier: CallerTier): string {
  const { name, limit, used, wanted } = refusal;
  const left = Math.max(0, limit - used);
  switch (name) {
    case 'streams':
      return `${limit} answers or streams may be open at once. Wait for one to end, or close it, then try again.`;
    case 'requestsPerMinute':
      return `${limit} messages may be sent in a minute. Wait a moment, then send this one again.`;
    case 'messagesPerDay':
      return `${limit} messages may be sent in a day. ${dayAdvice(refusal, tier)}.`;
    case 'creationsPerDay':
      return `${limit} conversations, forks, devices and notes may be made in a day, a fork counts once for every 100 turns, and ${left} are left. ${dayAdvice(refusal, tier)}.`;
    case 'tokensPerDay':
      return `The message needs about ${wanted} tokens with its conversation, and ${left} of the day's ${limit} are left. ${dayAdvice(refusal, tier)}; a new conversation needs fewer.`;
    case 'costMicrosPerDay':
      return `What one user may cost in a day is used up. ${dayAdvice(refusal, tier)}.`;
  }
}

/** 429: what was reached, and what can be done about it. Limits of the day say ANONYMOUS_LIMIT to a guest. */
export function quotaError(refusal: QuotaRefusal, tier: CallerTier): AppError {
  const { name, limit, used, reserved, wanted, resetTime, retryAfterMs } = refusal;
  const isGuests = tier === 'anonymous' && isOfDay(name) && !isHeldByOthers(refusal);
  return new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason: isGuests ? 'ANONYMOUS_LIMIT' : reasons[name],
    message: `${name}: ${used} used, ${reserved} reserved, ${wanted} wanted of ${limit}`,
    publicMessage: publicMessage(refusal, tier),
    retryAfterMs,
    metadata: {
      quota: name,
      limit: String(limit),
      used: String(used),
      reserved: String(reserved),
      resetTime: resetTime.toISOString(),
    },
  });
}

/** 429: all users together have cost what they may in a day, or hold the rest. What that is, is nobody's business. */
export const globalBudgetError = (input: {
  kind: SpendRefusal;
  resetTime: Date;
  now: Date;
  spentMicros: number;
}) =>
  new AppError({
    reason: 'GLOBAL_BUDGET',
    publicMessage:
      input.kind === 'held'
        ? 'The service is about to reach its budget of the day: others on their way hold the rest. Try again when they are done.'
        : `The service has reached its budget of the day. It goes on from ${input.resetTime.toISOString()} on.`,
    retryAfterMs:
      input.kind === 'held' ? BUSY_RETRY_MS : input.resetTime.getTime() - input.now.getTime(),
    metadata: { resetTime: input.resetTime.toISOString() },
  });

/** 429: the dollars of the owner's day do not allow a call that answers no message. */
export const workRefusedError = (kind: SpendRefusal, spending: Spending, now: Date): AppError =>
  quotaError(
    {
      name: 'costMicrosPerDay',
      limit: spending.limitMicros,
      used: spending.usedMicros,
      reserved: spending.heldMicros,
      wanted: spending.wantedMicros,
      resetTime: nextDay(now),
      retryAfterMs: kind === 'held' ? BUSY_RETRY_MS : nextDay(now).getTime() - now.getTime(),
    },
    'signedIn',
  );
