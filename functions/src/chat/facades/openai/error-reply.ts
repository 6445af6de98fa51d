import { AppError } from '#shared/lib/errors.ts';
import { errorReply, QUOTA_WAIT_MAX_MS, type ErrorReply } from '#shared/wire/errors/error-body.ts';
import type { OpenAiError } from '#shared/wire/facades/openai.ts';

/** Codes that programs written for OpenAI decide by; any other error goes by its own reason. */
const codeByReason: Readonly<Record<string, string>> = {
  ID_TOKEN_MISSING: 'invalid_api_key',
  ID_TOKEN_INVALID: 'invalid_api_key',
  ID_TOKEN_EXPIRED: 'invalid_api_key',
  ID_TOKEN_REVOKED: 'invalid_api_key',
  CONTEXT_WINDOW_WILL_OVERFLOW: 'context_length_exceeded',
  MODEL_CONTEXT_OVERFLOW: 'context_length_exceeded',
  TEXT_TOO_LONG: 'string_above_max_length',
  USER_RPM: 'rate_limit_exceeded',
  MODEL_QUOTA: 'rate_limit_exceeded',
  USER_DAILY_MESSAGES: 'insufficient_quota',
  USER_DAILY_CREATIONS: 'insufficient_quota',
  USER_DAILY_TOKENS: 'insufficient_quota',
  USER_DAILY_USD: 'insufficient_quota',
  ANONYMOUS_LIMIT: 'insufficient_quota',
  GLOBAL_BUDGET: 'insufficient_quota',
};

function typeOf(httpStatus: number): string {
  if (httpStatus === 401) return 'authentication_error';
  if (httpStatus === 429) return 'rate_limit_error';
  return httpStatus >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Whether the same request would meet the same error, which the SDKs do not see: they send every 5xx again. */
const isHopeless = (thrown: unknown, { httpStatus }: ErrorReply) =>
  thrown instanceof AppError && httpStatus >= 500 && !thrown.retryable;

/** The length of the wait that an error asks for, ms. */
const waitMsOf = ({ headers }: ErrorReply) => Number(headers['retry-after'] ?? 0) * 1_000;

/** The field as these clients send it; '' where it is one of our own protocol: theirs have no ids of messages and no results. */
const sentField = (field = ''): string => (/^(?:message\.|results\b)/.test(field) ? '' : field);

interface OpenAiErrorReply {
  headers: Record<string, string>;
  body: { error: OpenAiError };
}

/**
 * An error as the clients of OpenAI read it: `message`, `type`, `param` and a `code` in words, because the typed
 * ones refuse a number there. `status` and `details` are those of our other errors. A wait of more than a
 * minute is told as hopeless: the SDKs would not heed it, and come back three times within seconds.
 */
export function openAiErrorReply(thrown: unknown, docsUrl?: string): OpenAiErrorReply {
  const reply = errorReply(thrown, docsUrl);
  const { message, status, details } = reply.body.error;
  const info = details.find((detail) => 'reason' in detail);
  const reason = info?.reason ?? status;
  return {
    headers: {
      ...reply.headers,
      ...((waitMsOf(reply) > QUOTA_WAIT_MAX_MS || isHopeless(thrown, reply)) && {
        'x-should-retry': 'false',
      }),
    },
    body: {
      error: {
        message,
        type: typeOf(reply.httpStatus),
        // Not null: a client that reads errors by a schema (@ai-sdk/open-responses) would show none of this.
        param: sentField(info?.metadata['field']),
        code: codeByReason[reason] ?? reason,
        status,
        details,
      },
    },
  };
}
