import { useSignal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { selectToolTexts } from '#web/text/tools/tool-texts.ts';
import type { Player } from './player.ts';
import type { PlayableRecording } from './recording.ts';

/** Play, pause, stop, and how far it is. */
export function PlayerControls(input: {
  app: App;
  player: Player;
  chosen: PlayableRecording | undefined;
}) {
  const { app, player, chosen } = input;
  const texts = selectToolTexts(app.settings.language.value).player;
  const { count } = app.figures.value;
  const problem = useSignal<string | undefined>(undefined);
  const state = player.state.value;
  const isUnderWay = state === 'playing' || state === 'paused';
  const total = player.recording.value?.messages.length ?? 0;
  const position = player.position.value;
  const compactions = app.open.value.compactions.value.filter(
    (record) => record.state === 'COMPACTED',
  ).length;
  const begin = async (): Promise<void> => {
    problem.value = undefined;
    try {
      if (chosen) await player.play(chosen);
    } catch (error) {
      problem.value = String(error);
    }
  };
  return (
    <>
      <div class="tool-bar">
        <button
          type="button"
          class="button primary"
          disabled={isUnderWay || !chosen}
          onClick={() => void begin()}
        >
          {texts.play}
        </button>
        <button
          type="button"
          class="button"
          disabled={!isUnderWay}
          onClick={() => (state === 'paused' ? player.resume() : player.pause())}
        >
          {state === 'paused' ? texts.resume : texts.pause}
        </button>
        <button type="button" class="button" disabled={!isUnderWay} onClick={() => player.stop()}>
          {texts.stop}
        </button>
      </div>
      {problem.value !== undefined && <p role="alert">{problem.value}</p>}
      {state !== 'idle' && (
        <div class="player-progress" data-state={state}>
          <progress
            max={total}
            value={position}
            aria-label={texts.progress(count(position), count(total))}
          />
          <p role="status">
            {texts.state[state]}{' '}
            <span class="figure">{texts.progress(count(position), count(total))}</span>
          </p>
          <p class="figure player-compactions">{texts.compactions(count(compactions))}</p>
        </div>
      )}
    </>
  );
}
