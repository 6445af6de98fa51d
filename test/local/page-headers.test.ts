import { expect, test } from 'vitest';
import firebase from '../../firebase.json' with { type: 'json' };
import { DEPLOYED_ORIGINS, pageHeaders } from '../../infra/local/page/page-headers.ts';

test('Hosting gives every file the headers that the local stack gives it', () => {
  const [everyFile] = firebase.hosting.headers;
  const deployed = Object.fromEntries(
    (everyFile?.headers ?? []).map(({ key, value }) => [key, value]),
  );

  expect(everyFile?.source).toBe('**');
  expect(deployed).toMatchObject(pageHeaders(DEPLOYED_ORIGINS));
});
