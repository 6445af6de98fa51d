import { describe, expect, test } from 'vitest';
import { localConfig } from '#infra/local/local-config.ts';
import { quotaSettings } from '#functions/quota/quota-settings.ts';
import { hasLimits } from '#shared/quota/reserve-decision.ts';

const settingsOf = (project: string, environment: Record<string, string> = {}) =>
  quotaSettings(
    localConfig({
      GOOGLE_CLOUD_PROJECT: project,
      ...environment,
    }),
  );

describe('the limits of a deployment', () => {
  test('a deployment’s limits are on by default, lower for guests', () => {
    expect(settingsOf('recap-house')).toEqual({
      byTier: {
        anonymous: {
          messagesPerDay: 20,
          tokensPerDay: 30_000,
          requestsPerMinute: 10,
          creationsPerDay: 100,
          streams: 3,
          costMicrosPerDay: 5_000_000,
        },
        signedIn: {
          messagesPerDay: 200,
          tokensPerDay: 500_000,
          requestsPerMinute: 30,
          creationsPerDay: 1_000,
          streams: 3,
          costMicrosPerDay: 5_000_000,
        },
      },
      globalCostMicrosPerDay: 100_000_000,
    });
  });

  test('limits are off in a demo- project', () => {
    expect(hasLimits(settingsOf('demo-house'))).toBe(false);
  });

  test.each(['-1', 'much', '1e9'])(
    'a deployment’s limit cannot be %s dollars',
    (USER_DAILY_USD) => {
      expect(() => settingsOf('demo-house', { USER_DAILY_USD })).toThrow('USER_DAILY_USD');
    },
  );
});
