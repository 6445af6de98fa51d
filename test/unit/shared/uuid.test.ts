import { expect, test } from 'vitest';
import { findById, toLowerUuid } from '#shared/uuid.ts';

const id = 'C5D5219C-EC19-4265-8AA7-BDAE2D42E2B1';
const lower = id.toLowerCase();

test('a UUID is written in lower case and a name as it is', () => {
  expect([toLowerUuid(id), toLowerUuid('Harbour')]).toEqual([lower, 'Harbour']);
});

test('a name that differs in its case is another one', () => {
  expect(findById([{ id: 'harbour' }], 'Harbour')).toBeUndefined();
});
