/** Filters of the history. They stand in the address, so a view can be sent to somebody. */
import type { HistoryFilter } from "../api/queries.ts";
import { numberOf, textOf, type Search } from "../shell/search.ts";
import { fromLocalInput, localInput } from "../tool/format.ts";
import { Select, TextInput } from "../ui/field.tsx";

export function filterOf(search: Search): HistoryFilter {
  const text = (name: string) => {
    const value = textOf(search, name);
    return value === undefined ? {} : { [name]: value };
  };
  const time = (name: string) => {
    const value = numberOf(search, name);
    return value === undefined ? {} : { [name]: value };
  };
  return {
    ...text("user"),
    ...text("status"),
    ...text("group"),
    ...text("cluster"),
    ...text("worker"),
    ...text("frontend"),
    ...text("errorCode"),
    ...time("from"),
    ...time("to"),
  };
}

const statuses = ["finished", "failed", "cancelled", "denied"];
const frontends = [
  "trinoHttp",
  "postgresWire",
  "mysqlWire",
  "flightSql",
  "snowflakeHttp",
  "clickhouseHttp",
  "mcp",
];

export function Filters(props: {
  readonly filter: HistoryFilter;
  readonly groups: readonly string[];
  readonly clusters: readonly string[];
  readonly onChange: (filter: HistoryFilter) => void;
}) {
  const { filter, groups, clusters, onChange } = props;
  const set = (name: keyof HistoryFilter) => (value: string) =>
    onChange({ ...filter, [name]: value === "" ? undefined : value });
  const setTime = (name: "from" | "to") => (value: string) =>
    onChange({ ...filter, [name]: fromLocalInput(value) });
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <Select
        label="Status"
        value={filter.status ?? ""}
        options={anyOr(statuses)}
        onChange={set("status")}
      />
      <Select
        label="Group"
        value={filter.group ?? ""}
        options={anyOr(groups, filter.group)}
        onChange={set("group")}
      />
      <Select
        label="Cluster"
        value={filter.cluster ?? ""}
        options={anyOr(clusters, filter.cluster)}
        onChange={set("cluster")}
      />
      <Select
        label="Frontend"
        value={filter.frontend ?? ""}
        options={anyOr(frontends, filter.frontend)}
        onChange={set("frontend")}
      />
      <TextInput label="User" value={filter.user ?? ""} onChange={set("user")} />
      <TextInput label="Worker" value={filter.worker ?? ""} onChange={set("worker")} />
      <TextInput label="Error code" value={filter.errorCode ?? ""} onChange={set("errorCode")} />
      <TextInput
        label="From"
        type="datetime-local"
        value={localInput(filter.from)}
        onChange={setTime("from")}
      />
      <TextInput
        label="To"
        type="datetime-local"
        value={localInput(filter.to)}
        onChange={setTime("to")}
      />
    </form>
  );
}

/** With the one that is chosen, also when it is gone by now. */
function anyOr(names: readonly string[], chosen?: string) {
  const all = chosen === undefined || names.includes(chosen) ? names : [...names, chosen];
  return [{ value: "", title: "Any" }, ...all.map((name) => ({ value: name, title: name }))];
}
