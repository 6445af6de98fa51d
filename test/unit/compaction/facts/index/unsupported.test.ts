import { describe, expect, test } from 'vitest';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { unsupportedIn } from '#shared/compaction/facts/index/unsupported.ts';

const at = new Date('2026-11-21T10:00:00Z');
const turns = [
  'I need seven rooms for twenty-three people on May 20th, at 3 pm, for $1,250.',
  'My order 20231 (code ZX81QR), mail ann@b.example, see https://b.example/a. 预算三万元',
  'She said "bring the red folder". We meet tomorrow.',
  'A table for 4 near the Arno, they were there twice; a week of holidays. iPhoneを2台買った。',
];
const index = indexFacts(turns, [at]);

describe('unsupportedIn', () => {
  test.each([
    '7 rooms for 23 people',
    'Departs 2027-05-20 at 15:00',
    'Budget: 1250 USD, 30000 元',
    'ORD-20231 with zx81qr',
    'Wrote to ann@b.example about http://b.example/a',
    'Must bring the "red folder"',
    'Meets on 2026-11-22',
    'Asked on 2026-11-21',
    '12. Seven rooms',
    'no figures at all, "quoted"',
    'A table for 4 people',
    'Was there 2 times, 1 week of holidays',
    'room 9 of the other 8',
    'Bought "iPhone" 2台, "bring the red folder\\" now',
    '',
  ])('unsupportedIn finds nothing in %j', (text) => {
    expect(unsupportedIn(text, index)).toEqual([]);
  });

  test.each([
    ['for 24 people', ['24 people']],
    ['on May 21st', ['May 21st']],
    ['at 4:15 pm', ['4:15 pm']],
    ['costs $1,350', ['$1,350']],
    ['code ZX81QS, order 20232', ['ZX81QS', '20232']],
    ['see https://b.example/b', ['https://b.example/b']],
    ['mail bob@b.example', ['bob@b.example']],
    ['told to "bring the blue folder"', ['bring the blue folder']],
    ['45 and 45', ['45']],
    ['for 8 rooms', ['8 rooms']],
    ['costs $9', ['$9']],
    ['weighs 5 kg', ['5 kg']],
    ['departs at 24:00', ['24:00']],
    ['on 0 May', ['0 May']],
    ['on 2026-00-05', ['2026-00-05']],
    ['3月0日', ['3月0日']],
    ['a table for 6 people', ['6 people']],
    ['for 50 weeks of holidays', ['50 weeks']],
  ])('unsupportedIn finds in %j %j', (text, unsupported) => {
    expect(unsupportedIn(text, index)).toEqual(unsupported);
  });
});
