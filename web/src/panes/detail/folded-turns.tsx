import { useEffect, useRef } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import { isFrom, type Detail, type Lit } from '#web/state/context/provenance.ts';
import { textOfMessage, type StoredTurn } from '#web/state/turn-pages.ts';

/** Turns that the statement at hand comes from, or the turn at hand itself. */
function litTurns({ compaction, turns }: Detail, lit: Lit['value']): ReadonlySet<number> {
  if (lit.seq !== undefined) return new Set([lit.seq]);
  const item = compaction.snapshot?.find(({ id }) => id === lit.item);
  return new Set(
    item === undefined ? [] : turns.map(({ seq }) => seq).filter((seq) => isFrom(item, seq)),
  );
}

function Turn({ app, turn, isLit }: { app: App; turn: StoredTurn; isLit: boolean }) {
  const texts = app.texts.value;
  const answer = textOfMessage(turn.answer);
  return (
    <>
      <header>
        <span class="figure">{texts.detail.turn(app.figures.value.count(turn.seq))}</span>
        {isLit && <span aria-hidden="true">●</span>}
      </header>
      <p class="said">{textOfMessage(turn.user)}</p>
      {answer !== '' && <p class="said answer">{answer}</p>}
    </>
  );
}

/** Where turns that were folded before and those of this compaction are both shown: which of them begin here. */
function groupBegin({ turns, compaction }: Detail, at: number): 'before' | 'now' | undefined {
  const { from = 1 } = compaction;
  const groupOf = (turn: StoredTurn | undefined) => turn && (turn.seq < from ? 'before' : 'now');
  const own = groupOf(turns[at]);
  const isMixed = groupOf(turns[0]) !== groupOf(turns.at(-1));
  return isMixed && own !== groupOf(turns[at - 1]) ? own : undefined;
}

/** What was folded; the turns of the statement at hand are lit and brought into view. */
export function FoldedTurns({ app, detail, lit }: { app: App; detail: Detail; lit: Lit }) {
  const list = useRef<HTMLOListElement>(null);
  const shown = litTurns(detail, lit.value);
  const [firstLit] = shown;
  useEffect(() => {
    if (lit.value.item !== undefined && firstLit !== undefined)
      list.current?.querySelector(`[data-seq="${firstLit}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [lit.value.item, firstLit]);
  return (
    <ol class="detail-list folded-turns" ref={list} tabIndex={0} aria-labelledby="detail-turns">
      {detail.turns.map((turn, at) => {
        const { seq } = turn;
        const group = groupBegin(detail, at);
        return (
          <li
            key={seq}
            data-group={group}
            data-seq={seq}
            data-lit={shown.has(seq)}
            onMouseEnter={() => (lit.value = { seq })}
            onMouseLeave={() => (lit.value = {})}
          >
            {group && <h4>{app.texts.value.detail.foldedWhen[group]}</h4>}
            <Turn app={app} turn={turn} isLit={shown.has(seq)} />
          </li>
        );
      })}
    </ol>
  );
}
