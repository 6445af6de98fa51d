import type { z } from 'zod';
import { kindByField, partForms } from './body-forms.ts';

type Issue = z.core.$ZodIssue;

const isNumber = (origin: string) => origin === 'number' || origin === 'int';

const articleOf: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const kindOf = (expected: string) => articleOf[expected] ?? expected;

/** `1 entry`, `256 characters`; a bare number for what has no unit. */
function amountOf(count: number | bigint, origin: string): string {
  const isOne = Number(count) === 1;
  if (origin === 'string') return `${count} ${isOne ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `${count} ${isOne ? 'entry' : 'entries'}`;
  return String(count);
}

/** `must be 1`, `must be one of: a, b`. */
const choiceOf = (values: readonly unknown[]) =>
  values.length === 1
    ? `must be ${String(values[0])}`
    : `must be one of: ${values.map(String).join(', ')}`;

function unionSentence(issue: z.core.$ZodIssueInvalidUnion, name: string): string {
  if (issue.discriminator === undefined)
    return issue.input === undefined
      ? `${name} is missing: it ${issue.message}.`
      : `${name}: ${issue.message}.`;
  const known = 'options' in issue && issue.options ? choiceOf(issue.options) : 'is not known here';
  return `${name} ${known}.`;
}

/** What is wrong with a field of a request, its limit and what to do, as one sentence; never the value. */
export function issueSentence(issue: Issue, field: string): string {
  const name = field === '' ? 'The body' : `\`${field}\``;
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `${name} is missing: give ${kindByField(field) ?? kindOf(issue.expected)}.`
        : `${name} must be ${kindByField(field) ?? kindOf(issue.expected)}.`;
    case 'too_big':
      if (isNumber(issue.origin))
        return `${name} must be ${issue.inclusive ? 'at most' : 'below'} ${issue.maximum}.`;
      return `${name} may have at most ${amountOf(issue.maximum, issue.origin)}. Shorten it.`;
    case 'too_small':
      if (isNumber(issue.origin))
        return `${name} must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}.`;
      return `${name} must have at least ${amountOf(issue.minimum, issue.origin)}.`;
    case 'invalid_value':
      return `${name} ${choiceOf(issue.values)}.`;
    case 'invalid_union':
      return `${unionSentence(issue, name)}${partForms(field)}`;
    case 'invalid_key':
      return `${name}: ${issue.issues[0]?.message ?? issue.message}.`;
    case 'invalid_format':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_element':
    case 'custom':
      return `${name}: ${issue.message}.`;
  }
}
