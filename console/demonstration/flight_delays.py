"""Which airlines are late, and what has the weather to do with it? A pipeline file to copy.

Deploying makes the tables that it declares. A task says what it reads and writes, and gets that by name.
"""

from pyspark.sql import functions as F

from tenure import Pipeline

pipeline = Pipeline("flight_delays", description="Delays of flights from New York in 2013", schedule="@daily")

pipeline.table("flights", description="One row for each flight", partition_by=["month"])
pipeline.table("airlines", description="Names of carriers")
pipeline.table("airports", description="Names and places of airports")
pipeline.table("planes", description="Planes by tail number")
pipeline.table("weather", description="Hourly weather at the airports of New York")
pipeline.table("delays_by_carrier", description="Mean delays of each carrier, in minutes")
pipeline.table("delays_by_weather", description="Flights with the weather at their planned departure")
pipeline.table("daily_delays", description="Flights and mean delays of each airport, by day")


def typed(rows, columns):
    """The columns of a text file with their types; a value that does not fit its type fails the task."""
    pairs = [column.split() for column in columns.split(",")]
    return rows.select([rows[name].cast(kind).alias(name) for name, kind in pairs])


def means(groups):
    """Flights and mean delays of each group; a cancelled flight counts, and has no delay."""
    return groups.agg(F.count("*").alias("flights"), *[F.avg(x).alias(x) for x in ("dep_delay", "arr_delay")])


@pipeline.task(reads=["flights_file"], writes=["flights"])
def flights(flights_file, flights):
    """A time of 517 is 5:17; delays are minutes; `time_hour` is the planned hour of departure, in UTC."""
    columns = """year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int,
        sched_arr_time int, arr_delay int, carrier string, flight int, tailnum string, origin string,
        dest string, air_time int, distance int, hour int, minute int, time_hour timestamp"""
    flights.overwrite(typed(flights_file.read(), columns))


@pipeline.task(reads=["airlines_file"], writes=["airlines"])
def airlines(airlines_file, airlines):
    airlines.overwrite(typed(airlines_file.read(), "carrier string, name string"))


@pipeline.task(reads=["airports_file"], writes=["airports"])
def airports(airports_file, airports):
    columns = "faa string, name string, lat double, lon double, alt int, tz int, dst string, tzone string"
    airports.overwrite(typed(airports_file.read(), columns))


@pipeline.task(reads=["planes_file"], writes=["planes"])
def planes(planes_file, planes):
    columns = """tailnum string, year int, type string, manufacturer string, model string, engines int,
        seats int, speed int, engine string"""
    planes.overwrite(typed(planes_file.read(), columns))


@pipeline.task(reads=["weather_file"], writes=["weather"])
def weather(weather_file, weather):
    columns = """origin string, time_hour timestamp, temp double, dewp double, humid double, wind_dir int,
        wind_speed double, wind_gust double, precip double, pressure double, visib double"""
    weather.overwrite(typed(weather_file.read(), columns))


@pipeline.task(reads=["flights", "airlines"], writes=["delays_by_carrier"])
def delays_by_carrier(flights, airlines, delays_by_carrier):
    delays_by_carrier.overwrite(means(flights.read().groupBy("carrier")).join(airlines.read(), "carrier"))


@pipeline.task(reads=["flights", "weather"], writes=["delays_by_weather"])
def delays_by_weather(flights, weather, delays_by_weather):
    delays_by_weather.overwrite(flights.read().join(weather.read(), ["origin", "time_hour"]))


@pipeline.task(reads=["flights"], writes=["daily_delays"])
def daily_delays(flights, daily_delays):
    daily_delays.overwrite(means(flights.read().groupBy("origin", "year", "month", "day")))
