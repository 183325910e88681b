/** The settings of an experiment, each in words; what differs from the default is marked. */
import { Button } from "../../page/parts.tsx";
import { settingsFor } from "../experiment.ts";
import { type Setting, settingOf } from "../settings.ts";
import { changeSetting, experiment } from "../state.ts";

export function RulesPanel() {
  const settings = settingsFor(experiment.value);
  const groups = [...new Set(settings.map(({ group }) => group))];
  return (
    <section class="card" aria-labelledby="rules-heading">
      <h2 id="rules-heading">2. Machine and rules</h2>
      {groups.map((group) => (
        <fieldset key={group}>
          <legend>{group}</legend>
          {settings
            .filter((setting) => setting.group === group)
            .map((setting) => (
              <SettingField key={setting.name} setting={setting} />
            ))}
        </fieldset>
      ))}
    </section>
  );
}

function SettingField({ setting }: { readonly setting: Setting }) {
  const { name, title, choices, unit } = setting;
  const value = settingOf(experiment.value.settings, name);
  const isChanged = value !== setting.default;
  const wanted = setting.expected(value);
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    changeSetting(name, currentTarget.value.trim());
  return (
    <div class={isChanged ? "field changed" : "field"} data-setting={name}>
      <label for={`set-${name}`}>
        <span>
          {title}
          {unit === undefined ? "" : `, ${unit}`}
        </span>
      </label>
      {choices === undefined ? (
        <input
          id={`set-${name}`}
          value={value}
          onChange={change}
          placeholder={setting.default === "" ? "not set" : undefined}
          aria-invalid={wanted !== undefined}
          aria-describedby={`rule-${name}`}
          spellcheck={false}
        />
      ) : (
        <select id={`set-${name}`} value={value} onChange={change} aria-describedby={`rule-${name}`}>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
      <small id={`rule-${name}`} class={wanted === undefined ? "muted" : "wrong"}>
        {wanted === undefined ? setting.rule(value) : `Expected ${wanted}.`}
      </small>
      {isChanged ? (
        <small>
          <em>changed</em>; default: {setting.default === "" ? "not set" : setting.default}{" "}
          <Button class="small" onClick={() => changeSetting(name, setting.default)}>
            Set back<span class="visually-hidden"> {title}</span>
          </Button>
        </small>
      ) : null}
    </div>
  );
}
