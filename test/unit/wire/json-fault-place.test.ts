import { expect, test } from 'vitest';
import { jsonFaultPlace } from '#shared/wire/json-fault-place.ts';

test.each([
  ['single quotes', "{'a':1}", 1, 2],
  ['a bare word', '{"a": x}', 1, 7],
  ['a comma at the end', '{"a":1,\n}', 2, 1],
  ['a line end within a text', '{"a":"x\ny"}', 1, 8],
  ['a text that is cut off', '{"a":\n"b', 2, 3],
  ['a missing comma', '{"a":1 "b":2}', 1, 8],
  ['a wrong escape', String.raw`{"a":"\x"}`, 1, 7],
  ['something behind the end', '{} {}', 1, 4],
  ['a wrong bracket', '[1, {"b":[true, null]]', 1, 22],
  ['a number that is none', '[01]', 1, 2],
])('the place of %s in JSON is found', (...[, text, line, column]) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(jsonFaultPlace(text)).toEqual({ line, column });
});
