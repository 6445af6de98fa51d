import { useSignal, type Signal } from '@preact/signals';
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** Height of a turn that was not shown yet: a question, and a short answer. */
const ESTIMATED_PX = 120;

/** Rows above and below the visible ones. */
const OVERSCAN = 6;

type VirtualRows = Virtualizer<HTMLDivElement, HTMLElement>;

/** The rows of a long list that are to be in the document, each measured once it is. */
export function useVirtualRows(box: RefObject<HTMLDivElement | null>, count: number): VirtualRows {
  const [, draw] = useReducer<number, undefined>((drawn) => drawn + 1, 0);
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ESTIMATED_PX,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  };
  const [rows] = useState<VirtualRows>(() => new Virtualizer(options));
  rows.setOptions(options);
  // oxlint-disable no-underscore-dangle -- the names by which the package lets frameworks drive it
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  // oxlint-enable no-underscore-dangle
  return rows;
}

/** So near the end counts as at the end. */
const END_PX = 48;

/**
 * Keeps the newest message in view until the reader scrolls up, and again from when they come back to the
 * end. The signal tells whether it is kept.
 */
export function useNewestInView(box: RefObject<HTMLDivElement | null>): Signal<boolean> {
  const isKept = useSignal(true);
  const lastTop = useRef(0);
  /** Looks where the view stands, and whether the reader has moved it. */
  const look = (current: HTMLDivElement): void => {
    const { scrollTop, scrollHeight, clientHeight } = current;
    if (scrollHeight - scrollTop - clientHeight < END_PX) isKept.value = true;
    // Rows that turn out smaller than estimated move the view as well, but not by the reader's hand.
    else if (scrollTop < lastTop.current - 1) isKept.value = false;
    lastTop.current = scrollTop;
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (!current || !isKept.peek()) return;
    // What is drawn between a reader's move and the event that tells of it must not undo the move.
    look(current);
    if (!isKept.peek()) return;
    current.scrollTop = current.scrollHeight;
    lastTop.current = current.scrollTop;
  });
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const lookAgain = (): void => look(current);
    current.addEventListener('scroll', lookAgain, { passive: true });
    return () => current.removeEventListener('scroll', lookAgain);
  }, []);
  return isKept;
}
