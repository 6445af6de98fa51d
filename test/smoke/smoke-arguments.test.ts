import { describe, expect, test } from 'vitest';
import { parseSmokeArguments } from '#infra/smoke/smoke-arguments.ts';

const url = 'https://recap-chat.example.com';

describe('the arguments of the check', () => {
  test.each([
    [[], '--url is missing'],
    [['--url', 'recap'], '--url takes an address'],
    [['--url', 'ftp://recap.example.com'], '--url takes an address'],
    [['--url', url], 'give --api-key'],
    [['--url', url, '--token', 't', '--api-key', 'k'], 'give one'],
    [['--url', url, '--loud'], '--loud'],
  ])('the smoke arguments %j are refused with the fault', (line, said) => {
    expect(() => parseSmokeArguments(line, {})).toThrow(said);
  });

  test('the smoke check takes its token from the shell, hidden from the process list', () => {
    const parsed = parseSmokeArguments(['--url', url], { RECAP_TOKEN: 't' });

    expect(parsed).toMatchObject({ token: 't' });
  });

  test('the smoke check ignores the shell’s token where a new user is requested', () => {
    const parsed = parseSmokeArguments(['--url', url, '--api-key', 'k'], {
      RECAP_TOKEN: 't',
    });

    expect(parsed).toMatchObject({ token: undefined, apiKey: 'k' });
  });

  test.each(['http://127.0.0.1:8080', 'http://localhost:8080'])(
    'the smoke argument %s needs no token',
    (local) => {
      expect(parseSmokeArguments(['--url', local], {})).toMatchObject({ url: local });
    },
  );
});
