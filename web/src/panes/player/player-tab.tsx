import { useSignal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { LEAST_THRESHOLD_TOKENS } from '#web/state/context/compaction-steps.ts';
import { Choice } from '../controls.tsx';
import { perApp, toolTexts } from '../tools.ts';
import { createAppPlayer } from './app-player.ts';
import { PlayerControls } from './player-controls.tsx';
import { RecordingChoice } from './recording-choice.tsx';
import type { PlayableRecording } from './recording.ts';

/** Playing goes on while another tab is shown. */
const playerOf = perApp(createAppPlayer);

const gapsMs = [0, 500, 1_500, 4_000];

/** A recorded conversation, said again. */
export function PlayerTab({ app }: { app: App }) {
  const texts = toolTexts(app).player;
  const { duration } = app.figures.value;
  const { player, settings } = playerOf(app);
  const chosen = useSignal<PlayableRecording | undefined>(undefined);
  return (
    <div class="tool player">
      <p class="quiet">{texts.intro}</p>
      <RecordingChoice app={app} onChoose={(recording) => (chosen.value = recording)} />
      <div class="tool-fields">
        <label>
          {texts.threshold}
          <input
            type="number"
            min={LEAST_THRESHOLD_TOKENS}
            step={100}
            value={settings.value.thresholdTokens}
            onInput={({ currentTarget }) => {
              const thresholdTokens = currentTarget.valueAsNumber;
              if (thresholdTokens >= LEAST_THRESHOLD_TOKENS)
                settings.value = { ...settings.value, thresholdTokens };
            }}
          />
        </label>
        <label>
          {texts.gap}
          <Choice
            value={settings.value.gapMs}
            options={gapsMs}
            nameOf={duration}
            onChoose={(gapMs) => (settings.value = { ...settings.value, gapMs })}
          />
        </label>
      </div>
      <PlayerControls app={app} player={player} chosen={chosen.value} />
    </div>
  );
}
