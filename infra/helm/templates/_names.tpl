{{/* Names, labels and what both kinds of pods have in common. */}}

{{- define "gateway.name" -}}
{{- if contains "query-gateway" .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-query-gateway" .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* Of a pod: (dict "root" $ "component" "worker") */}}
{{- define "gateway.selector" -}}
app.kubernetes.io/name: query-gateway
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* (dict "root" $ "image" (dict "tag" "…" "digest" "…")), where `image` goes before that of all. */}}
{{- define "gateway.image" -}}
{{- $all := .root.Values.image -}}
{{- $own := default dict .image -}}
{{- $digest := $own.digest | default (ternary "" $all.digest (not (empty $own.tag))) -}}
{{- if $digest -}}
{{ printf "%s@%s" $all.repository $digest }}
{{- else -}}
{{ printf "%s:%s" $all.repository ($own.tag | default $all.tag | default .root.Chart.AppVersion) }}
{{- end -}}
{{- end }}

{{/* Names by which the control plane is reached in the cluster. */}}
{{- define "gateway.controlNames" -}}
{{- $name := printf "%s-control" (include "gateway.name" .) -}}
{{- $space := .Release.Namespace -}}
{{- toJson (list $name (printf "%s.%s" $name $space) (printf "%s.%s.svc" $name $space) (printf "%s.%s.svc.cluster.local" $name $space)) -}}
{{- end }}

{{/* Environment variables that lead to secrets, by (dict "name" "…" "secret" (dict "name" "…" "key" "…")). */}}
{{- define "gateway.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret.name }}
      key: {{ .secret.key }}
{{- end }}

{{- define "gateway.secretVariables" -}}
{{- include "gateway.secretVariable" (dict "name" "GATEWAY_FLEET_SECRET" "secret" .Values.fleetSecret) }}
{{- with .Values.fleetSecret }}
{{- if .previousKey }}
{{ include "gateway.secretVariable" (dict "name" "GATEWAY_FLEET_SECRET_PREVIOUS" "secret" (dict "name" .name "key" .previousKey)) }}
{{- end }}
{{- end }}
{{- range $name, $secret := .Values.secrets }}
{{ include "gateway.secretVariable" (dict "name" $name "secret" $secret) }}
{{- end }}
{{- end }}

{{- define "gateway.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "gateway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* A container: (dict "root" $ "scheme" "HTTPS" "resources" … "ports" (dict name port) "environment" text, and "image") */}}
{{- define "gateway.container" -}}
- name: gateway
  image: {{ include "gateway.image" (dict "root" .root "image" .image) }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  env:
    {{- .environment | nindent 4 }}
  ports:
    {{- range $name, $port := .ports }}
    - { name: {{ $name }}, containerPort: {{ $port }}, protocol: TCP }
    {{- end }}
  # A migration of a large database takes as long as it takes.
  startupProbe:
    httpGet: { path: /health, port: admin, scheme: {{ .scheme }} }
    periodSeconds: 2
    failureThreshold: 900
  livenessProbe:
    httpGet: { path: /health, port: admin, scheme: {{ .scheme }} }
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 6
  readinessProbe:
    httpGet: { path: /readyz, port: admin, scheme: {{ .scheme }} }
    periodSeconds: 5
    timeoutSeconds: 5
    failureThreshold: 2
  lifecycle:
    # Until nobody sends new connections here any more.
    preStop:
      sleep: { seconds: 5 }
  securityContext:
    {{- include "gateway.containerSecurity" .root | nindent 4 }}
  resources:
    {{- toYaml .resources | nindent 4 }}
  volumeMounts:
    - { name: config, mountPath: /etc/gateway/gateway.yaml, subPath: gateway.yaml, readOnly: true }
    - { name: tls, mountPath: /etc/gateway/tls, readOnly: true }
    - { name: state, mountPath: /var/lib/gateway }
    - { name: tmp, mountPath: /tmp }
{{- end }}

{{/* The rest of a pod: (dict "root" $ "component" "worker" "pod" … "drain" 30) */}}
{{- define "gateway.pod" -}}
serviceAccountName: {{ include "gateway.name" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
# Longer than the drain and the sleep before it.
terminationGracePeriodSeconds: {{ add (int .drain) 30 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "gateway.podSecurity" .root | nindent 2 }}
topologySpreadConstraints:
  {{- if .pod.topologySpreadConstraints }}
  {{- toYaml .pod.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "gateway.selector" . | nindent 8 }}
  {{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" }}
{{- with index $.pod $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gateway.volumes" -}}
- name: config
  configMap: { name: {{ include "gateway.name" .root }}-{{ .component }} }
- name: tls
  secret: { secretName: {{ .root.Values.tls.secretName }}, defaultMode: 0440 }
- name: tmp
  emptyDir: {}
{{- end }}
