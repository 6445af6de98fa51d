import { describe, expect, test } from 'vitest';
import { isAllowedWebhook, webhookName, webhooksSchema } from '#shared/hooks/webhook.ts';

const hosts = ['hooks.example.com', '127.0.0.1:8080'];

describe('an address that may be called', () => {
  test.each([
    ['https://hooks.example.com/compactions?key=1', true],
    ['https://hooks.example.com:443/', true],
    ['https://HOOKS.example.com/', true],
    ['https://127.0.0.1:8080/', true],
    ['https://hooks.example.com:8443/', false],
    ['https://evil.example.com/', false],
    ['https://hooks.example.com.evil.com/', false],
    ['https://evil.com/?hooks.example.com', false],
    ['https://hooks.example.com@evil.com/', false],
    ['https://user:secret@hooks.example.com/', false],
    ['https://169.254.169.254/latest', false],
    ['https://127.0.0.1/', false],
    ['http://hooks.example.com/', false],
    ['ftp://hooks.example.com/', false],
    ['hooks.example.com', false],
  ])('a webhook address %s is allowed: %s', (url, expected) => {
    expect(isAllowedWebhook(url, { hosts, allowsHttp: false })).toBe(expected);
  });

  test('a webhook address may be unencrypted where that is allowed', () => {
    expect(isAllowedWebhook('http://127.0.0.1:8080/x', { hosts, allowsHttp: true })).toBe(true);
  });

  test('no webhook address is allowed without allowed hosts', () => {
    const nobody = { hosts: [], allowsHttp: true };

    expect(isAllowedWebhook('https://hooks.example.com/', nobody)).toBe(false);
  });
});

test('a webhook is named by its host, since its path may hold a secret', () => {
  const url = 'https://hooks.example.com/token-3141';

  expect(webhookName({ url })).toBe('webhook hooks.example.com');
});

test.each([
  ['an unknown field', [{ url: 'https://a.b/', events: ['preCompact'], header: 'x' }]],
  ['no event', [{ url: 'https://a.b/', events: [] }]],
  ['an unknown event', [{ url: 'https://a.b/', events: ['onTurn'] }]],
  ['another protocol', [{ url: 'file:///etc/passwd', events: ['preCompact'] }]],
  [
    'six of them',
    Array.from({ length: 6 }, () => ({ url: 'https://a.b/', events: ['preCompact'] })),
  ],
])('webhooks with %s are refused', (_, given) => {
  expect(webhooksSchema.safeParse(given).success).toBe(false);
});
