import { quotaSettings } from '#functions/quota/quota-settings.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { hasLimits } from '#shared/quota/reserve-decision.ts';
import { expect, test } from 'vitest';

const settingsOf = (project: string) =>
  quotaSettings(localConfig({ GOOGLE_CLOUD_PROJECT: project }));

test('the limits of a deployment are on where nothing is set, and lower for guests', () => {
  const shared = { streams: 3, costMicrosPerDay: 5_000_000 };

  expect(settingsOf('recap-house')).toEqual({
    byTier: {
      anonymous: {
        ...shared,
        messagesPerDay: 20,
        tokensPerDay: 30_000,
        requestsPerMinute: 10,
        creationsPerDay: 100,
      },
      signedIn: {
        ...shared,
        messagesPerDay: 200,
        tokensPerDay: 500_000,
        requestsPerMinute: 30,
        creationsPerDay: 1_000,
      },
    },
    globalCostMicrosPerDay: 100_000_000,
  });
});

test('the limits of a demo- project are off where nothing is set', () => {
  expect(hasLimits(settingsOf('demo-house'))).toBe(false);
});
