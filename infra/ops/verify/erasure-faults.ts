import { remedies, type Fault } from './fault.ts';

/** What can be left of what was erased. */
export const erasureFaults = {
  'below-missing-head': {
    invariant: 'I7',
    shouldBe: 'nothing below a conversation that is not there',
    remedy: remedies.eraseAgain,
  },
  'below-erased-head': {
    invariant: 'I7',
    shouldBe: 'nothing below the tombstone of an erased conversation',
    remedy: remedies.eraseAgain,
  },
  'tombstone-tells': {
    invariant: 'I7',
    shouldBe: 'a tombstone says nothing of anybody',
    remedy: remedies.eraseAgain,
  },
  'erasure-stuck': {
    invariant: 'I7',
    shouldBe: 'an erasure ends within minutes',
    remedy: remedies.bySweep,
  },
  'erased-turn-tells': {
    invariant: 'I7',
    shouldBe: 'of an erased turn its place alone',
    remedy: 'delete the message again; what stands below the turn by hand',
  },
  'history-cites-erased': {
    invariant: 'I7',
    shouldBe: 'no statement of any history cites an erased turn',
    remedy: 'delete the message again: erasing mends every history',
  },
  'index-tells-erased': {
    invariant: 'I7',
    shouldBe: 'the index of recall has nothing of an erased turn',
    remedy: 'delete the message again: erasing makes the index anew',
  },
  'pin-of-erased': {
    invariant: 'I7',
    shouldBe: 'no pin comes of an erased turn',
    remedy: '`DELETE …/pins/{id}`',
  },
} as const satisfies Record<string, Fault>;
