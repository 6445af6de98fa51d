import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

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
