import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findIdentifiers } from '#shared/compaction/facts/values/identifiers.ts';
import { searchCases } from '#test/support/search-cases.ts';

const quantity =
  /^\d+(?:[.,]\d+)?(?:st|nd|rd|th|s|x|k|m|am|pm|h|d|w|y|kg|km|cm|mm|ml|kb|mb|gb|tb|px|em|ms|min|sec|mph|hrs?|fps|hz|khz|mhz|ghz|usd|eur|gbp|krw|jpy|g|l|lb|lbs|oz|ft|mi|p)$/i;
const numbered = /^(?:v|step|part|day|week|month|year|page|room|level|phase|q|h)[-_.]?\d{1,2}$/i;

/** Each rule as one expression, in their order. */
function plainStrength(text: string): 'strong' | 'weak' | undefined {
  const digits = text.replaceAll(/\D/g, '').length;
  if (/^#\d+$/.test(text) || /^v?\d+(?:\.\d+){2,3}(?:-[a-z0-9.]+)?$/i.test(text)) return 'strong';
  if (/^\d+$/.test(text)) return digits >= 6 ? 'strong' : undefined;
  if (/^\d{1,4}-\d{1,4}$/.test(text)) return undefined;
  if (!/[A-Za-z]/.test(text))
    return /^\d+(?:[-_:]\d+)+$/.test(text) && digits >= 6 ? 'strong' : undefined;
  if (quantity.test(text) || numbered.test(text)) return undefined;
  if (digits >= 2 && text.length >= 4) return 'strong';
  if (digits >= 1 && /^[A-Z0-9-]{4,}$|^[A-Z]{1,3}\d{1,4}[A-Z]?$/.test(text)) return 'strong';
  if (/^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/i.test(text)) return digits > 0 ? 'strong' : 'weak';
  return digits >= 1 && text.length >= 5 ? 'weak' : undefined;
}

function plainIdentifier(run: string) {
  const text = run.replaceAll(/^[_.:-]{1,9}|[_.:#-]{1,9}$/g, '');
  const strength = plainStrength(text);
  if (!/[0-9_]/.test(run) || strength === undefined || /[^A-Za-z0-9]{3}/.test(text)) return [];
  return [{ key: text.toLowerCase().replace(/^#/, ''), isWeak: strength === 'weak' }];
}

const pieces = fc.constantFrom(
  'a',
  'B',
  'RES',
  'room',
  'step',
  'v',
  '1',
  '2',
  '0',
  '42',
  '100042',
  '2023',
  '-',
  '_',
  '.',
  ':',
  '#',
  'km',
  'th',
  'snake_case',
);
const runs = fc
  .array(pieces, { minLength: 1, maxLength: 14 })
  .map((all) => all.join(''))
  .filter((run) => run.length <= 80);

test('identifier rules classify a run of characters one after the other', () => {
  fc.assert(
    fc.property(runs, (run) => {
      const found = findIdentifiers(run).map(({ readings, isWeak }) => ({
        key: readings[0],
        isWeak: isWeak === true,
      }));

      expect(found).toEqual(plainIdentifier(run));
    }),
    { numRuns: searchCases(3_000) },
  );
});
