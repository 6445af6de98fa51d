import { claimRefusal } from '#shared/conversation/documents/claim.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { expect, test } from 'vitest';

const ann: Caller = { uid: 'ann', tier: 'signedIn' };
const bob: Caller = { uid: 'bob', tier: 'signedIn' };
const guest: Caller = { uid: 'guest', tier: 'anonymous' };
const otherGuest: Caller = { uid: 'other', tier: 'anonymous' };
// Who links a sign-in to an anonymous account keeps the uid.
const linked: Caller = { uid: 'guest', tier: 'signedIn' };

test.each([
  ['an account may claim a guest', ann, guest, undefined, undefined],
  ['an account may go on with its own claim', ann, guest, { uid: 'ann' }, undefined],
  ['a guest is claimed by one account only', bob, guest, { uid: 'ann' }, 'claimedByAnother'],
  ['a guest may claim nobody', otherGuest, guest, undefined, 'callerIsGuest'],
  ['a guest may not claim itself', guest, guest, undefined, 'callerIsGuest'],
  ['who has linked the guest has everything already', linked, guest, undefined, 'ownToken'],
  ['an account may not claim itself', ann, ann, undefined, 'ownToken'],
  ['an account may not claim another account', ann, bob, undefined, 'notAGuest'],
])('%s', (_, caller, of, claim, refusal) => {
  expect(claimRefusal(caller, of, claim)).toBe(refusal);
});
