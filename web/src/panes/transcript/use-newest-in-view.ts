import { useSignal, type Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** So near the end counts as at the end. */
const END_PX = 48;

/**
 * Keeps the newest message in view until the reader scrolls up, and again from when they come back to the
 * end. The signal tells whether it is kept.
 */
export function useNewestInView(box: RefObject<HTMLDivElement | null>): Signal<boolean> {
  const isKept = useSignal(true);
  const lastTop = useRef(0);
  useLayoutEffect(() => {
    const { current } = box;
    if (current && isKept.peek()) current.scrollTop = current.scrollHeight;
  });
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const look = (): void => {
      const { scrollTop, scrollHeight, clientHeight } = current;
      if (scrollHeight - scrollTop - clientHeight < END_PX) isKept.value = true;
      // Rows that turn out smaller than estimated move the view as well, but not by the reader's hand.
      else if (scrollTop < lastTop.current - 1) isKept.value = false;
      lastTop.current = scrollTop;
    };
    current.addEventListener('scroll', look, { passive: true });
    return () => current.removeEventListener('scroll', look);
  }, []);
  return isKept;
}
