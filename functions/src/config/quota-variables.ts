import { integer, usd } from './config-values.ts';

/** The variables that say what users may take. Part of the environment's schema. */
export const quotaVariables = {
  USER_DAILY_MESSAGES: integer(200, { min: 0, max: 1_000_000 }).describe(
    'Messages that one signed-in user may have answered in a day (UTC); 0 = no limit, as in a demo- project where it is not set.',
  ),
  USER_DAILY_TOKENS: integer(500_000, { min: 0, max: 10_000_000_000 }).describe(
    'Tokens of one signed-in user in a day: input that no cache had, and output. 0 = no limit, as in a demo- project where it is not set.',
  ),
  USER_REQUESTS_PER_MINUTE: integer(30, { min: 0, max: 600 }).describe(
    'Answers that one signed-in user may begin in a minute; 0 = no limit, as in a demo- project where it is not set.',
  ),
  ANONYMOUS_DAILY_MESSAGES: integer(20, { min: 0, max: 1_000_000 }).describe(
    'As USER_DAILY_MESSAGES, of an anonymous user.',
  ),
  ANONYMOUS_DAILY_TOKENS: integer(30_000, { min: 0, max: 10_000_000_000 }).describe(
    'As USER_DAILY_TOKENS, of an anonymous user.',
  ),
  USER_DAILY_USD: usd(5).describe(
    'US dollars that one user may cost in a day, compactions, titles and routing included; 0 = no limit, as in a demo- project where it is not set.',
  ),
  GLOBAL_DAILY_USD: usd(100).describe(
    'US dollars that all users together may cost in a day; then nobody is answered until the next. 0 = no limit, as in a demo- project where it is not set.',
  ),
};
