import { randomUUID } from 'node:crypto';

/** A request that costs its sender nothing, and a server that is not careful seconds or its memory. */
export interface CostlyRequest {
  name: string;
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  body?: string;
}

/** Values of a character each that fill a body of 1 MB. */
const MANY = 500_000;
/** Fewer than the values that a body may hold. */
const ALLOWED = 19_000;

const list = (value: string, count = MANY) => `[${`${value},`.repeat(count - 1)}${value}]`;
const record = (value: string, count = ALLOWED) =>
  `{${Array.from({ length: count }, (_, i) => `"k${i}":${value}`).join()}}`;

const message = () =>
  `{"id":"${randomUUID()}","role":"user","parts":[{"type":"text","text":"Hi"}]}`;
const ownMessage = () => `{"id":"${randomUUID()}","parts":[{"type":"text","text":"Hi"}]}`;

const chat = (name: string, body: string): CostlyRequest => ({
  name,
  method: 'POST',
  path: '/v1/ai-sdk/chat',
  body,
});
/** `fields`: of a completion, without its braces. */
const completion = (name: string, fields: string): CostlyRequest => ({
  name,
  method: 'POST',
  path: '/v1/openai/chat/completions',
  body: `{"model":"a","metadata":{"conversation_id":"${randomUUID()}"},${fields}}`,
});
const response = (name: string, body: string): CostlyRequest => ({
  name,
  method: 'POST',
  path: '/v1/openai/responses',
  body,
});
const send = (name: string, body: string): CostlyRequest => ({
  name,
  method: 'POST',
  path: `/v1/conversations/${randomUUID()}/messages`,
  body,
});
const create = (name: string, body: string): CostlyRequest => ({
  name,
  method: 'POST',
  path: '/v1/conversations',
  body,
});
const withSchema = (name: string, schema: string) =>
  send(name, `{"message":${ownMessage()},"responseSchema":${schema}}`);

const twice = (ref: string) => `{"allOf":[{"$ref":"${ref}"},{"$ref":"${ref}"}]}`;
const doubling = `{"$ref":"#/$defs/d0","$defs":{${Array.from({ length: 40 }, (_, i) => `"d${i}":${twice(`#/$defs/d${i + 1}`)}`).join()},"d40":{}}}`;
const chain = `{"$ref":"#/$defs/d0","$defs":{${Array.from({ length: 900 }, (_, i) => `"d${i}":{"$ref":"#/$defs/d${i + 1}"}`).join()},"d900":{}}}`;

const toolOutput = (output: string) => ({
  method: 'POST' as const,
  path: `/v1/conversations/${randomUUID()}/turns/t_1/toolResults`,
  body: `{"results":[{"callId":"t_1_c0","output":${output}}]}`,
});

/** Requests of up to 1 MiB, most of which are refused. */
export const costlyRequests: readonly CostlyRequest[] = [
  chat('500,000 messages that are numbers', `{"id":"a","messages":${list('1')}}`),
  chat('as many of them as values may be', `{"id":"a","messages":${list('1', ALLOWED)}}`),
  chat('340,000 empty messages', `{"id":"a","messages":${list('{}', 340_000)}}`),
  chat(
    '9,000 empty messages and one',
    `{"id":"a","messages":[${'{},'.repeat(9_000)}${message()}]}`,
  ),
  chat('19,000 tools', `{"id":"a","messages":[${message()}],"tools":${record('1')}}`),
  completion('300,000 messages', `"messages":${list('1', 300_000)}`),
  completion('19,000 messages', `"messages":${list('1', ALLOWED)}`),
  completion(
    '6,000 messages without content',
    `"messages":${list('{"role":"user","content":1}', 6_000)}`,
  ),
  completion('6,000 good messages', `"messages":${list('{"role":"user","content":"Hi"}', 6_000)}`),
  completion(
    '1,300 results of tools',
    `"messages":[{"role":"user","content":"Hi"},${Array.from({ length: 1_300 }, (_, i) => `{"role":"assistant","tool_calls":[{"id":"${i}","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"${i}","content":"1"}`).join()}]`,
  ),
  chat(
    'a message of 18,000 parts that are none',
    `{"id":"a","messages":[{"id":"b","role":"user","parts":${list('1', 18_000)}}]}`,
  ),
  chat(
    'a message of 6,000 texts',
    `{"id":"a","messages":[{"id":"b","role":"user","parts":${list('{"type":"text","text":"a"}', 6_000)}}]}`,
  ),
  response('1,900 messages', `{"input":${list('{"role":"user","content":"Hi"}', 1_900)}}`),
  response('300,000 items', `{"input":${list('1', 300_000)}}`),
  response('1,900 items that are none', `{"input":${list('{"type":"x"}', 1_900)}}`),
  response('19,000 entries of metadata', `{"input":"a","metadata":${record('1')}}`),
  send('70,000 unknown parts', `{"message":{"id":"a","parts":${list('{"a":1}', 70_000)}}}`),
  send('90,000 unknown keys', record('1', 90_000)),
  send('19,000 unknown keys', record('1')),
  send(
    '19,000 keys that are numbers',
    `{${Array.from({ length: ALLOWED }, (_, i) => `"${i * 7_919}":1`).join()}}`,
  ),
  send('one key 150,000 times', `{${'"a":1,'.repeat(150_000)}"a":1}`),
  send('a key of 1 MB', `{"${'k'.repeat(1_000_000)}":1}`),
  send('a number of 1,000,000 digits', `{"message":${'9'.repeat(1_000_000)}}`),
  send('500,000 escapes', `{"message":"${String.raw`\\`.repeat(500_000)}"}`),
  send('500,000 lists in each other', '['.repeat(MANY) + ']'.repeat(MANY)),
  send('a key __proto__', `{"message":{"__proto__":${list('1', ALLOWED)}}}`),
  send(
    '19,000 values of context',
    `{"message":${ownMessage()},"clientContext":{"values":${record('1')}}}`,
  ),
  create('19,000 entries of metadata of a conversation', `{"metadata":${record('"a"')}}`),
  create(
    'tools with 9,000 schemas',
    `{"tools":[{"name":"a","parameters":{"type":"object","properties":${record('{}', 9_000)}}}]}`,
  ),
  { name: 'a tool output of 19,000 values', ...toolOutput(list('1', ALLOWED)) },
  {
    name: 'an updateMask of 1,500 paths',
    method: 'PATCH',
    path: `/v1/conversations/${randomUUID()}?updateMask=${Array.from({ length: 1_500 }, () => 'metadata').join()}`,
    body: '{}',
  },
  {
    name: '2,500 query parameters',
    method: 'GET',
    path: `/v1/conversations?${Array.from({ length: 2_500 }, (_, i) => `${i}`).join('&')}`,
  },
  withSchema('400 kB of alternatives', `{"anyOf":${list('1', 200_000)}}`),
  withSchema('9,000 empty alternatives', `{"anyOf":${list('{}', 9_000)}}`),
  withSchema('40 definitions that double', doubling),
  withSchema('a chain of 900 references', chain),
  withSchema(
    'a pattern of 31 kB',
    `{"type":"string","pattern":"${String.raw`\\p{L}{5}`.repeat(3_400)}"}`,
  ),
  withSchema('6,000 values of enum', `{"enum":${list('1234', 6_000)}}`),
];
